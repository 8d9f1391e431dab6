// Replays the whole run: plainly, and to another release of the refunds worker with --reapply. Neither may call Apple,
// and only events that differ may be published.

import AppStore
import AppStoreSimulator
import KafkaClient
import MillraceRecords
import ScenarioRig

struct RepeatRun: Sendable {
  struct Result: Sendable {
    var faults: [String] = []
    var replayed = 0
    var reapplied = 0
    var superseded = 0

    var headline: String {
      """
      replayed: \(replayed) records, no call, no event; --reapply with another release of refunds: \(reapplied) \
      records, no call, \(superseded) events that name the one they supersede
      """
    }
  }

  let environment: RehearsalEnvironment
  let observer: Rehearsal.Observer
  let workers: Rehearsal.Workers

  func run() async throws -> Result {
    var result = Result()
    let before = Moment(self)
    result.replayed += try await replay(workers.extensions, .renewalExtensions)
    result.replayed += try await replay(workers.refunds, .refunds)
    let after = Moment(self)
    if after.calls != before.calls { result.faults.append("replay: \(after.calls - before.calls) calls to Apple") }
    if after.events.count != before.events.count {
      let news = after.events.dropFirst(before.events.count)
      result.faults.append(
        "replay: \(news.count) new events, the first \(news.first.map { "\($0.name) \($0.id)" } ?? "")")
    }
    if after.table != before.table { result.faults.append("replay: the entitlements table has changed") }

    result.faults += try await workers.refunds.leave().map(\.description)
    try await workers.changedRefunds.start(1)
    try await workers.changedRefunds.waitUntilReady()
    result.reapplied = try await replay(
      workers.changedRefunds, .refunds, ["--reapply", "a part of a price is called partial since the last release"])
    var seen: Set<String> = []
    let told = after.events.filter {
      $0.worker == "refunds" && Self.isPartial($0, as: "prorated") && seen.insert($0.id).inserted
    }
    try await environment.deployment.wait(for: "events that differ") {
      observer.events.count >= after.events.count + told.count
    }
    let end = Moment(self)
    if end.calls != after.calls { result.faults.append("reapply: \(end.calls - after.calls) calls to Apple") }
    result.superseded = end.events.count - after.events.count
    result.faults += Self.judge(Array(end.events.dropFirst(after.events.count)), superseding: told)
    return result
  }

  /// The visible results at one time.
  private struct Moment {
    let calls: Int
    let events: [RehearsalEvents.Event]
    let table: [String: JSONObject]

    init(_ again: RepeatRun) {
      calls = again.environment.simulator.services.report.asked.reduce(0) { $0 + $1.count }
      (events, table) = (again.observer.events, again.observer.table)
    }
  }

  /// Replays all records of a family to its worker, and waits until the worker has handled them.
  private func replay(
    _ workers: WorkerGroup, _ family: NotificationFamily, _ options: [String] = []
  ) async throws -> Int {
    let deployment = environment.deployment
    let ranges = try await deployment.log.highWatermarks(
      of: try await deployment.log.partitions(of: [deployment.prefix + family.topic]), timeout: .seconds(30)
    ).filter { !$0.value.isEmpty }
    let looked = try await looked(workers)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (partition, range) in ranges {
        group.addTask { [deployment] in
          try await deployment.succeed(
            [
              "replay", "--worker", workers.worker, "--topic", partition.topic, "--partition",
              "\(partition.partition)", "--from", "\(range.lowerBound)", "--to", "\(range.upperBound)",
            ] + options, file: "replay-\(workers.program.name)-\(partition.partition)")
        }
      }
      try await group.waitForAll()
    }
    let count = ranges.values.reduce(0) { $0 + $1.count }
    try await deployment.wait(for: "\(workers.worker) to handle \(count) replayed records") {
      try await self.looked(workers) >= looked + Double(count)
    }
    return count
  }

  private func looked(_ workers: WorkerGroup) async throws -> Double {
    try await workers.sum("millrace_worker_records_total")
  }

  // MARK: - Events that differ

  private static func isPartial(_ event: RehearsalEvents.Event, as name: String) -> Bool {
    guard case .object(let revocation)? = event.data["revocation"] else { return false }
    return revocation["type"] == .string(name)
  }

  private static func judge(_ news: [RehearsalEvents.Event], superseding told: [RehearsalEvents.Event]) -> [String] {
    var faults: [String] = []
    var old = Dictionary(told.map { ($0.id, $0) }) { first, _ in first }
    for event in news {
      guard let id = event.supersedes else {
        faults.append("reapply: \(event.name) \(event.id) supersedes no event")
        continue
      }
      guard let superseded = old.removeValue(forKey: id) else {
        faults.append("reapply: \(event.name) \(event.id) supersedes \(id), which is equal or already superseded")
        continue
      }
      if !isPartial(event, as: "partial") || event.subject != superseded.subject || event.id == id {
        faults.append("reapply: \(event.name) \(event.id) supersedes \(id) and should not")
      }
    }
    for id in old.keys { faults.append("reapply: \(id) differs now but was not superseded") }
    return faults
  }
}
