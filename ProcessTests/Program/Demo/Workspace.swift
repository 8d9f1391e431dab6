// The directory that the steps of a demonstration share.
import AppStore
import AppStoreSigning
import Foundation
import MillraceCore
import ScenarioRig

struct Workspace {
  let directory: String

  /// The apps of scenarios/demo.yaml: one gets version 2 notifications, the other version 1.
  static let app = SampleApp()
  static let legacyApp = SampleApp(bundleId: "com.example.legacy", appAppleId: 1_234_567_891)
  /// The seed. The same seed gives the same identifiers.
  static let seed: UInt64 = 1_893_456_000

  /// The current time, to the millisecond.
  static var now: Timestamp {
    Timestamp(millisecondsSince1970: Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down)))
  }

  var configurationPath: String { path("millrace.yaml") }
  var rootPath: String { path("root.pem") }
  var secretPath: String { path("shared-secret") }
  private var chainPath: String { path("chain.pem") }
  private var journalPath: String { path("journal.jsonl") }

  private func path(_ name: String) -> String { directory + "/" + name }

  func save(_ chain: SigningChain) throws {
    try writePrivately(chain.pem, to: chainPath)
    try writePrivately(chain.rootPEM, to: rootPath)
  }

  func chain() throws -> SigningChain { try SigningChain(pem: text(chainPath)) }

  /// The version 1 secret, without its line feed.
  func secret() throws -> String { String(try text(secretPath).prefix { !$0.isNewline }) }

  /// The configuration as the ingress reads it, including environment variables.
  func configuration() throws -> MillraceConfiguration {
    try LoadedConfiguration.load(path: configurationPath, environment: ProcessInfo.processInfo.environment)
      .configuration
  }

  /// Adds entries to the journal of forgeries.
  func append(_ entries: [JournalEntry]) throws {
    let known = FileManager.default.fileExists(atPath: journalPath) ? try text(journalPath) : ""
    try writePrivately(known + entries.map { $0.line + "\n" }.joined(), to: journalPath)
  }

  /// All posted bodies: the simulator's, then the forgeries.
  func journal() throws -> [JournalEntry] {
    try SentNotifications.entries(text(path("sent.jsonl")).split(separator: "\n"), secret: secret())
      + text(journalPath).split(separator: "\n").map { try JournalEntry(line: String($0)) }
  }

  /// The simulator's report.
  func tally() throws -> SimulatorTally {
    try SimulatorTally(report: JSONObject(parsing: Array(text(path("report.json")).utf8)))
  }

  private func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
  }
}
