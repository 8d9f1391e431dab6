// A range of records sent again while the worker runs, and the trail of all that the operator did.

import AppStore
import AppStoreSigning
import Kafka
import Millrace
import Processes

extension Operating {
  private static let reapplyReason = "the template was wrong"

  /// What can be seen of the worker's deeds from outside.
  private struct Moment {
    var runs: [String: Int]
    var calls: Int
    var events: Int

    init(_ mill: Mill) async throws {
      (runs, calls) = (mill.world.runs, mill.world.calls)
      events = try await mill.deployment.log.everything(in: [mill.deployment.topics.events]).count
    }
  }

  /// Sends some records of one partition again, twice; the one that was put aside is among them.
  /// - Returns: their offsets.
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

    let before = try await Moment(mill)
    try await replay(place.partition, range, [])
    let between = try await Moment(mill)
    await expect(
      between.runs == before.runs && between.calls == before.calls && between.events == before.events,
      """
      a plain replay of what is done ran handlers of \(between.runs.count { before.runs[$0.key] != $0.value }), and \
      caused \(between.calls - before.calls) calls and \(between.events - before.events) events
      """)

    try await replay(place.partition, range, ["--reapply", Self.reapplyReason])
    let after = try await Moment(mill)
    for (id, runs) in before.runs {
      let count = runs + (id == refused.unwanted ? 0 : chosen[id] ?? 0)
      await expect(
        after.runs[id] == count, "with --reapply the handler of \(id) ran \(after.runs[id] ?? 0) times, not \(count)")
    }
    await expect(after.calls == before.calls, "--reapply caused \(after.calls - before.calls) effects twice")
    // What is committed later is counted by the verdict at the end.
    await expect(
      after.events == before.events, "--reapply published \(after.events - before.events) events that say the same")
    mill.say("\(range.count) records sent again plainly, then for handlers to run again")
    return range
  }

  private func replay(_ partition: TopicPartition, _ range: Range<Int64>, _ options: [String]) async throws {
    let (skipped, done) = (["skipped-duplicate", "skipped-dead"], ["done", "skipped-dead"])
    let before = try await ended()
    let count = Int64(range.count)
    let answer = try await hand.millrace(
      [
        "replay", "--worker", Deployment.worker, "--topic", partition.topic, "--partition", "\(partition.partition)",
        "--from", "\(range.lowerBound)", "--to", "\(range.upperBound)", "--by", Self.author, "--wait", "2m",
      ] + options)
    let what = (["replay"] + options.prefix(1)).joined(separator: " ")
    await expect(answer, endsWith: 0, saying: "\(count) records sent.", what)
    let line = answer.lines.last ?? [:]
    await expect(
      line.text("state") == "done" && line.count("sent") == count && line.count("offsets") == count
        && line.count("offsetsDone") == count && line.count("parts") == 1 && line.text("by") == Self.author
        && line.text("worker") == Deployment.worker && line["reapply"] == (options.isEmpty ? nil : .bool(true)),
      "\(what) of \(count) records says: \(line.line)")
    let process = await mill.workers.first?.pid
    try await mill.wait(for: "the worker to be done with what was sent again") {
      try await Task.sleep(for: .milliseconds(200))
      guard await mill.workers.first?.pid == process else {
        throw RunError("the worker ended while records were sent again, and its counts with it; see its logs")
      }
      let total: Int
      do {
        total = try await self.ended().values.reduce(0, +)
      } catch is CancellationError {
        throw CancellationError()
      } catch {
        // Busy, or over: then it is started anew, and another process.
        return false
      }
      return total >= before.values.reduce(0, +) + range.count
    }
    // One of them is a dead letter that was put aside: no replay of either kind brings it back.
    let after = try await ended()
    let found = (options.isEmpty ? skipped : done).map { (after[$0] ?? 0) - (before[$0] ?? 0) }
    await expect(
      found == [range.count - 1, 1], "\(what) of \(count) records ended as \(after), before it as \(before)")
  }

  /// How many records ended how, as the worker counts them; what waits on a tier has not.
  private func ended() async throws -> [String: Int] {
    guard let url = await mill.metrics else { throw RunError("the worker's metrics are nowhere") }
    var counts: [String: Int] = [:]
    for line in try await Web.get(url).text.split(separator: "\n")
    where line.hasPrefix("millrace_worker_records_total{") && !line.contains("outcome=\"parked\"") {
      let outcome = line.split(separator: "outcome=\"").last.map { $0.prefix { $0 != "\"" } } ?? ""
      guard let value = line.split(separator: " ").last.flatMap({ Double($0) }) else { continue }
      counts[String(outcome), default: 0] += Int(value)
    }
    return counts
  }

  // MARK: - The trail

  /// What the trail says of a run.
  private struct Entry: Hashable, CustomStringConvertible {
    var action: String
    var by: String
    var why: String?
    var counts: [String: Int64]

    var description: String { "\(action) by \(by) (\(why ?? "")): \(counts)" }
  }

  /// Every run of a command is in the audit trail with who, why and how many, and no other is.
  func audit(_ range: Range<Int64>) async throws {
    let (log, topics) = (mill.deployment.log, mill.deployment.topics)
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
    // A lane tells the end of a replay together with its last result, in another topic.
    try await mill.wait(for: "the audit trail to have an end for each run") {
      try await Task.sleep(for: .milliseconds(200))
      let ended = AuditRecord.typePrefix + "ended"
      return try await log.everything(in: [topics.audit]).count { $0.text("ce_type") == ended } >= expected.count
    }
    let answer = try await hand.millrace(["audit"])
    let found = answer.lines.map { line in
      var counts: [String: Int64] = [:]
      for member in line.object("counts")?.members ?? [] {
        if case .integer(let count) = member.value, count != 0 { counts[member.key] = count }
      }
      return Entry(action: line.text("action") ?? "", by: line.text("by") ?? "", why: line.text("why"), counts: counts)
    }
    await expect(answer.status == 0 && found == expected, "the audit trail has \(found), and not \(expected)")
    await expect(
      answer.lines.allSatisfy {
        $0.text("state") == "over" && $0.text("result") == "done" && $0.text("target") == Deployment.worker
      }, "the audit trail has runs that are not over: \(answer.text)")
    let runs = try await hand.millrace(["replay", "list"])
    await expect(
      runs.status == 0 && runs.lines.map { $0.text("run") } == answer.lines.suffix(2).map { $0.text("run") },
      "replay list has \(runs.text)")
  }
}
