import AppStore
import Foundation
import Testing

@testable import Millrace

@Suite struct SharedSecretCheckTests {
  /// Two apps with secrets of their own, the first in rotation, and both with the team's primary one where asked.
  private func check(primary: Bool = false) throws -> SharedSecretCheck {
    let shared = primary ? ["primary"] : []
    return try check(["one": ["old", "new"] + shared, "two": ["second"] + shared])
  }

  /// Apps by bundle id with their secrets.
  private func check(_ apps: KeyValuePairs<String, [String]>) throws -> SharedSecretCheck {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("secrets-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    func file(_ secret: String) throws -> String {
      let url = directory.appendingPathComponent(secret)
      try Data((secret + "\n").utf8).write(to: url)
      return url.path
    }
    func app(_ bundleId: String, _ secrets: [String]) throws -> AppSettings {
      var app = AppSettings()
      app.bundleId = bundleId
      app.sharedSecretFiles = try secrets.map(file)
      return app
    }
    defer { do { try FileManager.default.removeItem(at: directory) } catch { Issue.record(error) } }
    return try SharedSecretCheck(apps.map { try app($0.key, $0.value) })
  }

  private func passwords(_ texts: [String]) throws -> [AppStore.Secret] {
    let members = texts.map { #""password":"\#($0)""# }.joined(separator: ",")
    return try ResponseBodyV1.Envelope(parsing: Array("{\(members)}".utf8)).passwords
  }

  private func bundle(_ verdict: SharedSecretCheck.Verdict) -> String {
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
  func `a secret speaks for its app and for no other`(
    sent: [String], bundleId: String?, expected: String
  ) throws {
    #expect(bundle(try check().judge(passwords(sent), bundleId: bundleId)) == expected)
  }

  @Test func `a primary secret serves every app, and names none by itself`() throws {
    let check = try check(primary: true)
    #expect(bundle(check.judge(try passwords(["primary"]), bundleId: "two")) == "two")
    #expect(bundle(check.judge(try passwords(["primary"]), bundleId: nil)) == "nobody's")
  }

  @Test(
    arguments: [
      (["old"], "three", ["one"]), (["second"], "three", ["two"]), (["primary"], "three", ["one", "two"]),
      (["primary"], nil, ["one", "two"]), (["old", "primary"], "three", ["one"]),
    ] as [([String], String?, [String])])
  func `a secret for no configured app is known by whose it is`(
    sent: [String], bundleId: String?, expected: [String]
  ) throws {
    #expect(try check(primary: true).judge(passwords(sent), bundleId: bundleId) == .noApp(secretOf: expected))
  }

  /// Whose secret was found right, for which app it is to speak now, and whether it may.
  private static let shared: [([String], String, Bool)] = [
    (["one"], "one", true), (["one", "two"], "one", true),
    // An app with secrets of its own, and one with fewer or more of them than the app whose secret it was.
    (["one"], "stranger", false), (["stranger"], "one", false),
    (["team"], "both", true), (["both"], "team", false),
    // What two apps have in common is the team's secret; what one of them has may be its own.
    (["one", "two"], "team", true), (["one"], "team", false), (["one"], "two", false), (["one", "team"], "two", true),
    // Nothing left to tell by.
    ([], "one", false), (["gone"], "one", false), (["one", "gone"], "team", false),
    (["one", "stranger"], "team", false),
    (["team"], "bare", false), (["bare"], "team", false), (["bare"], "bare", false), (["team"], "gone", false),
  ]

  @Test(arguments: shared) func `a secret that is gone speaks for an app only if it can have been none but its own`(
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
