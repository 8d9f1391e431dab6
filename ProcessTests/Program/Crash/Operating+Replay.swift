// Replays a range of records while the worker runs, and checks the audit trail of all actions.

import AppStore
import AppStoreSigning
import KafkaClient
import MillraceRecords
import ScenarioRig

extension Operating {
  private static let reapplyReason = "the template was wrong"

  /// The visible results of the worker at one time.
  private struct Moment {
    var runs: [String: Int]
    var calls: Int
    var events: Int

    init(_ test: CrashTest) async throws {
      (runs, calls) = (test.endpoint.runs, test.endpoint.calls)
      events = try await test.deployment.log.everything(in: [test.topics.events]).count
    }
  }

  /// Replays some records of one partition twice, including the discarded one.
  /// - Returns: The offsets.
  func sendAgain(using random: inout SeededGenerator) async throws -> Range<Int64> {
    let place = try place(of: refused.unwanted)
    let held = places.filter { $0.value.partition == place.partition }
    let last = held.map(\.value.offset).max() ?? place.offset
    let from = max(0, place.offset - .random(in: 2...6, using: &random))
    let range = from..<min(last, place.offset + .random(in: 3...8, using: &random)) + 1
    let chosen = held.filter { range.contains($0.value.offset) }.mapValues(\.runs)
    guard chosen.count == range.count, range.count > 2 else {
      throw RunError("\(place.partition) has \(chosen.count) records in \(range)")
    }

    let before = try await Moment(test)
    try await replay(place.partition, range, [])
    let between = try await Moment(test)
    await expect(
      between.runs == before.runs && between.calls == before.calls && between.events == before.events,
      """
      a plain replay of handled records ran the handlers of \(between.runs.count { before.runs[$0.key] != $0.value }), \
      and caused \(between.calls - before.calls) calls and \(between.events - before.events) events
      """)

    try await replay(place.partition, range, ["--reapply", Self.reapplyReason])
    let after = try await Moment(test)
    for (id, runs) in before.runs {
      let count = runs + (id == refused.unwanted ? 0 : chosen[id] ?? 0)
      await expect(
        after.runs[id] == count, "with --reapply the handler of \(id) ran \(after.runs[id] ?? 0) times, not \(count)")
    }
    await expect(after.calls == before.calls, "--reapply repeated \(after.calls - before.calls) effects")
    // The verdict at the end counts events that are committed later.
    await expect(
      after.events == before.events, "--reapply published \(after.events - before.events) events without a difference")
    test.say("\(range.count) records replayed, first plainly, then with --reapply")
    return range
  }

  private func replay(_ partition: TopicPartition, _ range: Range<Int64>, _ options: [String]) async throws {
    let (skipped, done) = (["skipped-duplicate", "skipped-dead"], ["done", "skipped-dead"])
    let before = try await ended()
    let count = Int64(range.count)
    let answer = try await commands.run(
      [
        "replay", "--worker", CrashTest.worker, "--topic", partition.topic, "--partition", "\(partition.partition)",
        "--from", "\(range.lowerBound)", "--to", "\(range.upperBound)", "--by", Self.author, "--wait", "2m",
      ] + options)
    let what = (["replay"] + options.prefix(1)).joined(separator: " ")
    await expect(answer, endsWith: 0, saying: "\(count) records sent.", what)
    let line = answer.lines.last ?? [:]
    await expect(
      line.text("state") == "done" && line.number("sent") == count && line.number("offsets") == count
        && line.number("offsetsDone") == count && line.number("parts") == 1 && line.text("by") == Self.author
        && line.text("worker") == CrashTest.worker && line["reapply"] == (options.isEmpty ? nil : .bool(true)),
      "\(what) of \(count) records says: \(line.line)")
    let process = await test.workers.processes.first?.pid
    try await test.wait(for: "the worker to handle the replayed records") {
      try await Task.sleep(for: .milliseconds(200))
      guard await test.workers.processes.first?.pid == process else {
        throw RunError("the worker ended during the replay, so its counts are lost; see its logs")
      }
      let total: Int
      do {
        total = try await self.ended().values.reduce(0, +)
      } catch is CancellationError {
        throw CancellationError()
      } catch {
        // The worker is busy or has ended. If it has ended, its metrics are lost.
        return false
      }
      return total >= before.values.reduce(0, +) + range.count
    }
    // One of the records is a discarded dead letter, which no replay brings back.
    let after = try await ended()
    let found = (options.isEmpty ? skipped : done).map { (after[$0] ?? 0) - (before[$0] ?? 0) }
    await expect(
      found == [range.count - 1, 1], "\(what) of \(count) records changed the counts from \(before) to \(after)")
  }

  /// The number of records by outcome, from the worker's metrics. Delayed records have no outcome yet.
  private func ended() async throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for (labels, value) in try await test.workers.series("millrace_worker_records_total")
    where !labels.contains("outcome=\"delayed\"") {
      let outcome = labels.split(separator: "outcome=\"").last.map { $0.prefix { $0 != "\"" } } ?? ""
      counts[String(outcome), default: 0] += Int(value)
    }
    return counts
  }

  // MARK: - Audit trail

  /// A run in the audit trail.
  private struct Entry: Hashable, CustomStringConvertible {
    var action: String
    var by: String
    var why: String?
    var counts: [String: Int64]

    var description: String { "\(action) by \(by) (\(why ?? "")): \(counts)" }
  }

  /// Checks that the audit trail has every command's run with author, reason and counts, and no other run.
  func audit(_ range: Range<Int64>) async throws {
    let count = Int64(range.count)
    let expected = [
      Entry(action: "requeue", by: Self.author, why: Self.reason, counts: ["requeued": 1]),
      Entry(action: "requeue", by: "bob", why: Self.reason, counts: ["lost": 1]),
      Entry(action: "discard", by: "bob", why: Self.reason, counts: ["lost": 1]),
      Entry(action: "discard", by: Self.author, why: Self.reason, counts: ["discarded": 1]),
      Entry(action: "requeue", by: "bob", why: Self.reason, counts: ["lost": 1]),
      Entry(action: "requeue", by: Self.author, why: Self.reason, counts: ["requeued": Int64(refused.others.count)]),
      Entry(action: "replay", by: Self.author, why: nil, counts: ["sent": count]),
      Entry(action: "reapply", by: Self.author, why: Self.reapplyReason, counts: ["sent": count]),
    ]
    // A lane writes the end of a replay together with its last result, but to another topic.
    var answer = try await commands.run(["audit"])
    try await test.wait(for: "the audit trail to have an end for each run") {
      answer = try await commands.run(["audit"])
      return answer.lines.allSatisfy { $0.text("state") == "over" }
    }
    // The first entry is about the topics that the worker runs on, where the cluster did not begin with them.
    let runs = answer.lines.filter { $0.text("action") != AuditRecord.Action.topicsApply.rawValue }
    let found = runs.map { line in
      var counts: [String: Int64] = [:]
      for member in line.object("counts")?.members ?? [] {
        if case .integer(let count) = member.value, count != 0 { counts[member.key] = count }
      }
      return Entry(action: line.text("action") ?? "", by: line.text("by") ?? "", why: line.text("why"), counts: counts)
    }
    await expect(answer.status == 0 && found == expected, "the audit trail has \(found), expected \(expected)")
    await expect(
      runs.allSatisfy { $0.text("result") == "done" && $0.text("target") == CrashTest.worker },
      "the audit trail has failed runs: \(answer.text)")
    let replays = try await commands.run(["replay", "list"])
    await expect(
      replays.status == 0 && replays.lines.map { $0.text("run") } == runs.suffix(2).map { $0.text("run") },
      "unexpected output of replay list: \(replays.text)")
  }
}
