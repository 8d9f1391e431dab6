// Tests the state that `millrace status` prints, made of the console's values.

import AppStore
import KafkaClient
import MillraceCore
import Testing

@testable import Console

@Suite struct DeploymentStatusTests {
  private static let at = Timestamp(millisecondsSince1970: 1_767_225_600_000)

  private func status(members: [String: [GroupMember]]?) -> DeploymentStatus {
    var facts = ClusterFacts()
    let live = TopicPartition(topic: "appstore.notifications.refunds", partition: 0)
    facts.topics = [live.topic: 1]
    facts.ranges = [live: 0..<10, TopicPartition(topic: "millrace.quarantine", partition: 1): 3..<8]
    facts.committed = ["refunds": [live: 6]]
    facts.oldest = [live: [6: Self.at - .seconds(90)]]
    let lag = WorkerLag("refunds", inputs: [live.topic], facts: facts) { $0 }
    let other = WorkerLag("winback", inputs: [], facts: facts) { $0 }
    let retry = RetryTable.Row(worker: "refunds", delay: "5m", waiting: 3, due: [:], next: Self.at + .seconds(60))
    let dead = DeadLetterIndex.Group(
      worker: "refunds", reason: "unverified", bundleId: "com.example", open: 2, newest: Self.at, oldest: Self.at)
    let overview = Overview(
      now: Self.at, wallTime: Self.at, surveyedAt: Self.at, countedSince: Self.at, isCaughtUp: true, problems: [:],
      flow: [], workers: [lag, other], retries: [retry], webhooks: [],
      deadLetters: .init(groups: [dead], open: 2, kept: 2, dropped: 0), campaigns: nil, reports: [:], deadlines: nil,
      runs: nil, audit: nil)
    return DeploymentStatus(overview, facts, quarantine: ["millrace.quarantine"], members: members)
  }

  @Test func `a worker has its processes, lanes, lag, retries and dead letters, and one without a process says so`()
    throws
  {
    var member = GroupMember(id: "m", instance: "pod-0", host: "/10.0.0.1")
    member.partitions = Set([0, 2].map { TopicPartition(topic: "t", partition: $0) })
    let status = status(members: ["refunds": [member]])
    #expect(!status.isComplete)
    let lines = status.lines(lineWidth: nil, usesColor: false)
    let words = lines[1].split(separator: " ").map(String.init)
    #expect(words == ["refunds", "1", "4", "90s", "3", "2", "2", "unverified"], "\(lines)")
    #expect(lines[2].contains("winback") && lines[2].contains("none runs") && lines[2].contains("has not run"))
    #expect(lines.last == "Quarantine: 5 records.")
    let json = try status.jsonLines.map { try JSONObject(parsing: Array($0.utf8)) }
    #expect(json.count == 3 && json[0]["lag"] == 4 && json[1]["processes"] == [] && json[2]["quarantine"] == 5)
    #expect(json[0]["processes"] == [["host": "/10.0.0.1", "instance": "pod-0", "lanes": [0, 2]]])
    #expect(json[0]["lanes"] == [["lane": 0, "lag": 4, "oldest": .string((Self.at - .seconds(90)).rfc3339)]])
  }

  @Test func `an embedded cluster does not tell the processes`() throws {
    let status = status(members: nil)
    #expect(status.isComplete)
    #expect(status.lines(lineWidth: nil, usesColor: false)[1].contains("unknown"))
    #expect(try JSONObject(parsing: Array(status.jsonLines[0].utf8))["processes"] == nil)
    let running = ["refunds", "winback"].map { ($0, [GroupMember(id: "m", instance: nil, host: "h")]) }
    #expect(self.status(members: Dictionary(uniqueKeysWithValues: running)).isComplete)
  }
}
