// One run: the outage, the wave of refunds, the death of a worker, and the replay. It waits for conditions, never for a
// fixed time.

import AppStore
import AppStoreSigning
import AppStoreSimulator
import MillraceTime
import KafkaClient
import MillraceRecords
import Operations
import Processes

struct Rehearsal: Sendable {
  let stage: RehearsalEnvironment
  let count: Int
  private let observer = Observer()
  private let begun = ContinuousClock.now

  /// The pause of the one 429, in real time.
  static let retryAfter = Duration.seconds(6)

  init(_ stage: RehearsalEnvironment, workers: Int) { (self.stage, count) = (stage, workers) }

  func run() async throws -> RunResult {
    let workers = WorkerProcesses(stage)
    return try await withThrowingTaskGroup(of: RunResult?.self) { group in
      group.addTask {
        try await observer.follow(stage)
        return nil
      }
      group.addTask {
        do {
          let result = try await run(workers)
          await workers.killAll()
          return result
        } catch {
          await workers.killAll()
          throw error
        }
      }
      defer { group.cancelAll() }
      while let end = try await group.next() {
        if let end { return end }
      }
      throw RunError("the cluster ended")
    }
  }

  private func say(_ line: String) throws {
    let seconds = (ContinuousClock.now - begun).components.seconds
    try stage.output.line("    \(count == 1 ? "1 worker" : "\(count) workers"), \(seconds) s: \(line)")
  }

  private func run(_ workers: WorkerProcesses) async throws -> RunResult {
    async let extensions: Void = workers.start(.extensions, count)
    async let refunds: Void = workers.start(.refunds, count)
    _ = try await (extensions, refunds)
    try say("as many processes of renewal-extensions and of refunds are running")

    let began = stage.clock.wallTime
    var cast = Participants(stage.simulator, settings: stage.settings)
    var wave = RefundWave(stage)
    try await startCampaign(&cast, since: began)
    inject()
    try say("the mass extension was requested; Apple's API fails while the failures arrive")
    try await wave.roll(stage.settings.refunds)

    let killed = try await work(workers, &wave)
    try await settle(workers)
    var result = RunResult(
      workers: count, stage, observer, cast: cast, since: began, killed: killed, twins: wave.twins,
      lanes: try await lanes())
    try say(result.headline)
    if stage.settings.isReplayed {
      result.replay = try await RepeatRun(stage, observer, workers).run()
      try say(result.replay?.headline ?? "")
    }
    for program in [Program.extensions, .refunds, .changedRefunds] { result.faults += await workers.leave(program) }
    return result
  }

  // MARK: - The outage

  /// Starts a campaign, and makes some subscribers ineligible before Apple extends them.
  private func startCampaign(_ cast: inout Participants, since began: Timestamp) async throws {
    async let command: Void = stage.millrace(
      ["campaigns", "start", "--product", Settings.monthly, "--days", "7", "--reason", "3", "--yes"], log: "campaign")
    try await stage.wait(for: "the request for the mass extension") {
      stage.simulator.services.journal.contains { $0.endpoint == .massExtendRenewalDate && $0.status == 200 }
    }
    try cast.stage(in: stage.simulator, at: stage.clock.wallTime, since: began)
    try await command
  }

  private func inject() {
    let now = stage.clock.wallTime
    let extend: Set<APIEndpoint> = [.extendSubscriptionRenewalDate]
    // Times are in seconds of real time. The first failures arrive after three.
    func from(_ start: Double, _ end: Double, _ effect: FaultEffect, share: Double = 1, count: Int? = nil) {
      func moment(_ seconds: Double) -> Timestamp { now + stage.settings.lasting(.seconds(seconds)) }
      stage.simulator.services.inject(
        Fault(
          effect, endpoints: extend, from: moment(start), until: moment(end), count: count, share: share))
    }
    from(0, 4, .answerLost, share: 0.3)
    from(0, 1_000, .unauthorized, count: 1)
    from(4, 7, .failure(status: 503, body: .html))
    from(
      8.5, 1_000, .tooManyRequests(.milliseconds(from: stage.settings.lasting(Self.retryAfter))), count: 1)
    from(7, 1_000, .failure(status: 500, body: .json(code: 5_000_001, message: "again")), share: 0.05)
    from(7, 1_000, .connectionReset, share: 0.05)
    from(7, 1_000, .truncatedBody(share: 0.5), share: 0.05)
    from(7, 1_000, .answerLost, share: 0.1)
  }

  // MARK: - The work

  /// Waits until every failure has a result. With several processes, kills one half-way and starts another.
  /// - Returns: The time from the kill until every lane was running again.
  private func work(_ workers: WorkerProcesses, _ wave: inout RefundWave) async throws -> Range<Timestamp>? {
    var killed: Range<Timestamp>?
    var isRolledOn = false
    var line = ProgressLine(stage.output)
    while true {
      try await stage.taken.tryAgain(stage)
      let progress = progress
      line.show(progress)
      let isHalf = progress.isTold && progress.ended * 2 >= progress.failures
      if isHalf, !isRolledOn {
        isRolledOn = true
        try await wave.roll(stage.settings.refunds / 2)
      }
      if isHalf, killed == nil, count > 1 {
        let death = stage.clock.wallTime
        await workers.kill(.extensions)
        try await workers.start(.extensions, 1)
        killed = death..<stage.clock.wallTime
        line.end()
        try say("killed one process with records in flight and started another")
      }
      if isHalf, progress.ended == progress.failures, isTableTrue { break }
      guard ContinuousClock.now < stage.settings.deadline else {
        throw RunError("time limit reached: \(progress.text); logs in \(stage.directory)")
      }
      try await Task.sleep(for: .milliseconds(50))
    }
    line.end()
    return killed
  }

  private var progress: Progress {
    let (failures, isTold) = stage.simulator.world.withState { state in
      var ids: Set<Int64> = []
      var isTold = false
      for record in state.realms[0].log.records where record.facts.kind.type == .renewalExtension {
        if case .purchase(let transaction, _, _) = record.facts.content { ids.insert(transaction.originalId) }
        if case .summary = record.facts.content { isTold = true }
      }
      return (ids, isTold)
    }
    return Progress(
      failures: failures.count, isTold: isTold, ended: observer.ended.count, names: observer.names,
      calls: stage.simulator.services.report.asked.first { $0.endpoint == .extendSubscriptionRenewalDate })
  }

  /// Whether the table matches the simulator's state.
  private var isTableTrue: Bool {
    RunResult.differences(observer.table, RefundWave.truth(stage.simulator)).isEmpty
      && observer.names["campaign.completed"] != nil
  }

  /// The lane of every subscription with a notification.
  private func lanes() async throws -> [Int64: Int] {
    let topic = stage.prefix + NotificationFamily.renewalExtensions.topic
    let records = try await stage.log.everything(in: [topic])
    let trimmed = try await stage.log.trimmed(of: [topic, stage.prefix + NotificationFamily.refunds.topic])
    guard trimmed.isEmpty else { throw RunError("\(trimmed) were trimmed: the run is larger than the cluster") }
    return Dictionary(
      records.compactMap { record in
        Int64(String(decoding: record.key ?? [], as: UTF8.self)).map { ($0, Int(record.partition)) }
      }, uniquingKeysWith: { first, _ in first })
  }

  /// Waits for Apple's duplicate and late deliveries, and until everything is read.
  private func settle(_ workers: WorkerProcesses) async throws {
    try await stage.wait(for: "the last deliveries") {
      try await stage.taken.tryAgain(stage)
      return stage.simulator.report.deliveries.waiting <= stage.taken.failures
    }
    for program in [Program.extensions, .refunds] {
      try await stage.wait(for: "\(program.worker) to have read everything") {
        let lag = try await workers.sum("millrace_worker_lag_records", program)
        let inHand = try await workers.sum("millrace_worker_records_in_flight", program)
        return lag == 0 && inHand == 0
      }
    }
  }
}

/// The progress of a run.
struct Progress: Sendable {
  var failures: Int
  /// Whether Apple has sent every failure.
  var isTold: Bool
  var ended: Int
  var names: [String: Int]
  var calls: APIReport.Requests?

  var text: String {
    let calls = calls?.count ?? 0
    let refunds = ["entitlement.revoked", "entitlement.reinstated", "refund.declined"].reduce(0) {
      $0 + names[$1, default: 0]
    }
    return """
      \(ended) of \(failures) failures ended, \(names["extension.applied", default: 0]) extended, \
      \(names["extension.refused", default: 0]) refused, \(calls) calls, \(refunds) refund events
      """
  }
}

/// Shows progress: on a terminal in one changing line, in a log in occasional lines.
struct ProgressLine {
  private let output: Output
  private var shown = ""
  private var last: ContinuousClock.Instant?

  init(_ output: Output) { self.output = output }

  mutating func show(_ progress: Progress) {
    let (now, text) = (ContinuousClock.now, "      \(progress.text)")
    guard output.isTerminal else {
      guard text != shown, last.map({ now - $0 > .seconds(5) }) ?? true else { return }
      (shown, last) = (text, now)
      return output.note(text)
    }
    let cut = String(text.prefix((output.width ?? 80) - 1))
    guard cut != shown else { return }
    write("\r" + cut + String(repeating: " ", count: max(0, shown.count - cut.count)))
    shown = cut
  }

  /// Ends the line and keeps its text.
  mutating func end() {
    if output.isTerminal, !shown.isEmpty { write("\n") }
    shown = ""
  }

  private func write(_ text: String) {
    do {
      try output.text(text)
    } catch {
      // The reader closed the output.
    }
  }
}
