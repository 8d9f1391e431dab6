// One run: the outage, the wave of refunds, a worker that dies, and everything once more. Nothing in it waits for time to
// pass, only for things to be so.

import AppStore
import AppStoreSigning
import AppStoreSimulator
import Clocks
import Kafka
import Millrace
import Operations
import Processes

struct Play: Sendable {
  let stage: Stage
  let count: Int
  private let observer = Observer()
  private let begun = ContinuousClock.now

  /// What the one 429 says, in real time.
  static let retryAfter = Duration.seconds(6)

  init(_ stage: Stage, workers: Int) { (self.stage, count) = (stage, workers) }

  func run() async throws -> RunResult {
    let crew = Crew(stage)
    return try await withThrowingTaskGroup(of: RunResult?.self) { group in
      group.addTask {
        try await observer.follow(stage)
        return nil
      }
      group.addTask {
        do {
          let result = try await run(crew)
          await crew.killAll()
          return result
        } catch {
          await crew.killAll()
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

  private func run(_ crew: Crew) async throws -> RunResult {
    async let extensions: Void = crew.start(.extensions, count)
    async let refunds: Void = crew.start(.refunds, count)
    _ = try await (extensions, refunds)
    try say("as many of renewal extensions and of refunds run")

    let began = stage.clock.wallTime
    var cast = Cast(stage.simulator, settings: stage.settings)
    var wave = RefundWave(stage)
    try await startCampaign(&cast, since: began)
    inject()
    try say("the mass extension is asked for; Apple's API goes away while its failures come in")
    try await wave.roll(stage.settings.refunds)

    let killed = try await work(crew, &wave)
    try await settle(crew)
    var result = RunResult(
      workers: count, stage, observer, cast: cast, since: began, killed: killed, twins: wave.twins,
      lanes: try await lanes())
    try say(result.headline)
    if stage.settings.isReplayed {
      result.replay = try await Again(stage, observer, crew).run()
      try say(result.replay?.headline ?? "")
    }
    for program in [Program.extensions, .refunds, .changedRefunds] { result.faults += await crew.leave(program) }
    return result
  }

  // MARK: - The outage

  /// Asks Apple as a team does, and has some subscribers lose what they were asked for before Apple comes to them.
  private func startCampaign(_ cast: inout Cast, since began: Timestamp) async throws {
    async let command: Void = stage.millrace(
      ["campaigns", "start", "--product", Settings.monthly, "--days", "7", "--reason", "3", "--yes"], log: "campaign")
    try await stage.wait(for: "the mass extension to be asked for") {
      stage.simulator.services.journal.contains { $0.endpoint == .massExtendRenewalDate && $0.status == 200 }
    }
    try cast.stage(in: stage.simulator, at: stage.clock.wallTime, since: began)
    try await command
  }

  private func inject() {
    let now = stage.clock.wallTime
    let extend: Set<APIEndpoint> = [.extendSubscriptionRenewalDate]
    // In seconds of real time; failures begin to come after three.
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

  /// Watches until everything has its answer; of several processes one is killed half-way, and another one started.
  /// - Returns: from the death to the moment at which every lane ran again.
  private func work(_ crew: Crew, _ wave: inout RefundWave) async throws -> Range<Timestamp>? {
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
        await crew.kill(.extensions)
        try await crew.start(.extensions, 1)
        killed = death..<stage.clock.wallTime
        line.end()
        try say("one of the processes was killed with work in hand, another one was started")
      }
      if isHalf, progress.ended == progress.failures, isTableTrue { break }
      guard ContinuousClock.now < stage.settings.deadline else {
        throw RunError("the time is over: \(progress.text); logs in \(stage.directory)")
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

  /// Whether the table says what the world says.
  private var isTableTrue: Bool {
    RunResult.differences(observer.table, RefundWave.truth(stage.simulator)).isEmpty
      && observer.names["campaign.completed"] != nil
  }

  /// The lane of every subscription that something was told of.
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

  /// What Apple sends twice or late has come, and everything is read.
  private func settle(_ crew: Crew) async throws {
    try await stage.wait(for: "the last deliveries") {
      try await stage.taken.tryAgain(stage)
      return stage.simulator.report.deliveries.waiting <= stage.taken.failures
    }
    for program in [Program.extensions, .refunds] {
      try await stage.wait(for: "\(program.worker) to have read everything") {
        let lag = try await crew.sum("millrace_worker_lag_records", program)
        let inHand = try await crew.sum("millrace_worker_records_in_flight", program)
        return lag == 0 && inHand == 0
      }
    }
  }
}

/// How far a run is.
struct Progress: Sendable {
  var failures: Int
  /// Whether Apple has told every failure.
  var isTold: Bool
  var ended: Int
  var names: [String: Int]
  var calls: APIReport.Asked?

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

/// The last line of a terminal while something happens; in a log one line now and then.
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

  /// Leaves what was shown last.
  mutating func end() {
    if output.isTerminal, !shown.isEmpty { write("\n") }
    shown = ""
  }

  private func write(_ text: String) {
    do {
      try output.text(text)
    } catch {
      // Nobody looks any more.
    }
  }
}
