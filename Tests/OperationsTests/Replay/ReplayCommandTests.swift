// Runs the built command on the embedded cluster. The run and the audit trail have to repeat the selection of the
// flags.

import AppStore
import Foundation
import KafkaClient
import MillraceRecords
import TestEnvironment
import Testing

@testable import Operations

@Suite(.timeLimit(.minutes(15))) struct ReplayCommandTests {
  private static let source = "appstore.notifications.refunds"

  private static func record(_ number: Int, type: String) -> ProducerRecord {
    let event = CloudEvent(
      id: "n\(number)", source: "appstore/Sandbox/com.example.a", type: NotificationRecord.v2TypePrefix + type,
      subject: "k\(number)", contentType: "application/jose", extensions: ["origin": "post", "subtype": "VOLUNTARY"])
    return ProducerRecord(
      topic: source, partition: Int32(number % 2), key: Array("k\(number)".utf8), value: [UInt8(number)],
      headers: event.headers)
  }

  @Test func `a selection is counted, copied, listed and audited with the same description`() async throws {
    let cluster = try TestCluster(TopicCatalog.load(directory: Project.path("topics"), prefix: "", lanes: 2))
    try await cluster.write((0..<20).map { Self.record($0, type: $0.isMultiple(of: 4) ? "REFUND" : "REVOKE") })
    let environment = ["MILLRACE_KAFKA_BOOTSTRAP_SERVERS": cluster.embedded.bootstrapServers]
    func millrace(_ arguments: String...) async throws -> CommandProcess.Result {
      try await CommandProcess.run(arguments, environment: environment)
    }
    let target = "appstore.notifications.unrecognized"
    var selection = RecordSelection()
    (selection.topics, selection.partitions) = ([Self.source], [0, 1])
    (selection.types, selection.subtypes) = (["REFUND"], ["VOLUNTARY"])
    (selection.apps, selection.environments) = (["com.example.a"], ["Sandbox"])
    selection.keys = (0..<16).map { "k\($0)" }
    let flags = ["replay", "--to-topic", target] + selection.arguments
    let dry = try await CommandProcess.run(flags + ["--dry-run"], environment: environment)
    let survey = try JSONObject(parsing: Array(dry.out.utf8))
    #expect(dry.status == 0 && survey["chosen"] == 4 && survey["read"] == 20, "\(dry.err)")
    #expect(try await cluster.read(target).isEmpty)

    let sent = try await CommandProcess.run(flags + ["--limit", "3", "--by", "ann"], environment: environment)
    #expect(sent.status == 0 && sent.err.contains("3 records sent."), "\(sent.err)")
    let ids = try await cluster.read(target).map { record in
      record.headers.last { $0.name == "ce_id" }?.value.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
    #expect(ids.count == 3 && Set(ids).isSubset(of: ["n0", "n4", "n8", "n12"]), "\(ids)")

    let listed = try JSONObject(parsing: Array(try await millrace("replay", "list", "--json").out.utf8))
    guard case .object(let said)? = listed["selection"] else {
      Issue.record("\(listed)")
      return
    }
    #expect(RecordSelection(said) == selection && listed.string("state") == "done" && listed["sent"] == 3)
    #expect(try await millrace("replay", "list", "--no-json").out.contains(selection.description))
    let log = try await KafkaLog.connect(cluster.configuration, timeout: .seconds(30))
    let entry = try #require(try await AuditLog(on: log, prefix: "").trail().entries.first)
    #expect(entry.by == "ann" && entry.result == .done && entry.counts == [.init("sent", 3)])
    #expect(entry.selection?["types"] == ["REFUND"] && entry.selection?["limit"] == 3)

    let audited = try await millrace("audit", "--run", String(entry.run.prefix(8)))
    let line = try JSONObject(parsing: Array(audited.out.utf8))
    #expect(line.string("by") == "ann" && line.string("state") == "over" && line.string("result") == "done")
    #expect(try await millrace("audit", "--open").out.isEmpty)

    let late = try await millrace("replay", "stop", String(entry.run.prefix(8)))
    #expect(late.status == 64 && late.err.contains("the run is already done"), "\(late.err)")
    let byTime = try await millrace("replay", "--to-topic", target, "--family", "refunds", "--since", "2h")
    #expect(byTime.status == 64 && byTime.err.contains("--since") && byTime.err.contains("embedded"), "\(byTime.err)")
    let nothing = try await millrace("replay", "--to-topic", target, "--family", "consent")
    #expect(nothing.status == 0 && nothing.err.contains("No records match"), "\(nothing.err)")
  }
}
