import AppStore
import Foundation
import TestEnvironment
import Testing

@testable import MillraceCore
@testable import MillraceRecords

@Suite struct SharedSecretCheckTests {
  /// Two apps with their own secrets, the first in rotation. With `primary`, both also have the team's primary secret.
  private func check(primary: Bool = false) throws -> SharedSecretCheck {
    let shared = primary ? ["primary"] : []
    return try check(["one": ["old", "new"] + shared, "two": ["second"] + shared])
  }

  /// Creates a check for apps, given as bundle IDs with secrets.
  private func check(_ apps: KeyValuePairs<String, [String]>) throws -> SharedSecretCheck {
    let directory = try TemporaryDirectory()
    var settings: [AppSettings] = []
    for (bundleId, secrets) in apps {
      var app = AppSettings()
      app.bundleId = bundleId
      for secret in secrets { app.sharedSecretFiles.append(try directory.write("\(secret)\n", to: secret)) }
      settings.append(app)
    }
    return try SharedSecretCheck(settings)
  }

  private func passwords(_ texts: [String]) throws -> [AppStore.Secret] {
    let members = texts.map { #""password":"\#($0)""# }.joined(separator: ",")
    return try ResponseBodyV1.Envelope(parsing: Array("{\(members)}".utf8)).passwords
  }

  private func bundle(_ verdict: SharedSecretCheck.PasswordMatch) -> String {
    switch verdict {
    case .wrong: "wrong"
    case .right(let app): app.bundleId
    case .noApp: "nobody's"
    }
  }

  @Test(
    arguments: [
      (["old"], "one", "one"), (["new"], "one", "one"), (["second"], "two", "two"),
      (["second"], "one", "wrong"), (["nonsense"], "one", "wrong"), ([], "one", "wrong"),
      (["old"], nil, "one"), (["old"], "three", "nobody's"), (["nonsense"], "three", "wrong"),
      (["old", "new"], "one", "one"), (["old", "nonsense"], "one", "wrong"),
    ] as [([String], String?, String)])
  func `a secret is valid for its app and for no other`(
    sent: [String], bundleId: String?, expected: String
  ) throws {
    #expect(bundle(try check().judge(passwords(sent), bundleId: bundleId)) == expected)
  }

  @Test func `a primary secret is valid for every app and identifies none`() throws {
    let check = try check(primary: true)
    #expect(bundle(check.judge(try passwords(["primary"]), bundleId: "two")) == "two")
    #expect(bundle(check.judge(try passwords(["primary"]), bundleId: nil)) == "nobody's")
  }

  @Test(
    arguments: [
      (["old"], "three", ["one"]), (["second"], "three", ["two"]), (["primary"], "three", ["one", "two"]),
      (["primary"], nil, ["one", "two"]), (["old", "primary"], "three", ["one"]),
    ] as [([String], String?, [String])])
  func `a right secret for an app that is not configured names the apps that share it`(
    sent: [String], bundleId: String?, expected: [String]
  ) throws {
    #expect(try check(primary: true).judge(passwords(sent), bundleId: bundleId) == .noApp(secretOf: expected))
  }

  /// The apps whose secret matched, the app that the secret must now be valid for, and the result.
  private static let shared: [([String], String, Bool)] = [
    (["one"], "one", true), (["one", "two"], "one", true),
    // An app with other secrets, and an app with fewer or more secrets than the app that matched.
    (["one"], "stranger", false), (["stranger"], "one", false),
    (["team"], "both", true), (["both"], "team", false),
    // A secret that two apps share is the team's. A secret of only one app may be its own.
    (["one", "two"], "team", true), (["one"], "team", false), (["one"], "two", false), (["one", "team"], "two", true),
    // No configured secrets are left to compare.
    ([], "one", false), (["gone"], "one", false), (["one", "gone"], "team", false),
    (["one", "stranger"], "team", false),
    (["team"], "bare", false), (["bare"], "team", false), (["bare"], "bare", false), (["team"], "gone", false),
  ]

  @Test(arguments: shared) func `a secret that was not kept is valid only for an app that certainly has it`(
    matched: [String], bundleId: String, expected: Bool
  ) throws {
    let check = try check([
      "one": ["old", "new", "primary"], "two": ["second", "primary"], "team": ["primary"],
      "both": ["primary", "extra"], "stranger": ["other"], "bare": [],
    ])
    #expect(check.isSecret(of: matched, alsoOf: bundleId) == expected)
  }

  @Test func `a file that cannot be read is named`() throws {
    var app = AppSettings()
    app.sharedSecretFiles = ["/nonexistent/secret"]
    let error = #expect(throws: MillraceError.self) { try SharedSecretCheck([app]) }
    #expect(error?.description.contains("/nonexistent/secret") == true)
  }
}
