import AppStore
import Foundation
import Testing

@testable import Millrace

@Suite struct SharedSecretCheckTests {
  /// Two apps with secrets of their own, the first in rotation, and both with the team's primary one where asked.
  private func check(primary: Bool = false) throws -> SharedSecretCheck {
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
      app.sharedSecretFiles = try secrets.map(file) + (primary ? [file("primary")] : [])
      return app
    }
    defer { do { try FileManager.default.removeItem(at: directory) } catch { Issue.record(error) } }
    return try SharedSecretCheck([app("one", ["old", "new"]), app("two", ["second"])])
  }

  private func passwords(_ texts: [String]) throws -> [AppStore.Secret] {
    let members = texts.map { #""password":"\#($0)""# }.joined(separator: ",")
    return try ResponseBodyV1.Envelope(parsing: Array("{\(members)}".utf8)).passwords
  }

  private func bundle(_ verdict: SharedSecretCheck.Verdict) -> String {
    switch verdict {
    case .wrong: "wrong"
    case .right(let app): app?.bundleId ?? "nobody's"
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

  @Test func `a file that cannot be read is named`() throws {
    var app = AppSettings()
    app.sharedSecretFiles = ["/nonexistent/secret"]
    let error = #expect(throws: MillraceError.self) { try SharedSecretCheck([app]) }
    #expect(error?.description.contains("/nonexistent/secret") == true)
  }
}
