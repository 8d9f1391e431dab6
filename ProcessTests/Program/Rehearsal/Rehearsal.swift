// One run: the outage, the wave of refunds, the death of a worker, and the replay. It waits for conditions, never for a
// fixed time.

import AppStore
import AppStoreSigning
import AppStoreSimulator
import MillraceTime
import KafkaClient
import MillraceRecords
import Operations
import ScenarioRig

struct Rehearsal: Sendable {
  typealias Observer = TopicObserver<RehearsalEvents>

  /// The workers' processes.
  struct Workers: Sendable {
    let extensions: WorkerGroup
    let refunds: WorkerGroup
    /// A release of refunds whose events differ.
    let changedRefunds: WorkerGroup

    init(_ deployment: Deployment) {
      func group(_ worker: String, _ program: Program) -> WorkerGroup {
        WorkerGroup(worker, program, of: deployment, hasAdminPort: true)
      }
      extensions = group("renewal-extensions", Program("millrace-renewal-extensions"))
      refunds = group("refunds", Program("millrace-refunds"))
      changedRefunds = group("refunds", .scenario(ChangedRefunds.subcommand))
    }

    var all: [WorkerGroup] { [extensions, refunds, changedRefunds] }
  }

  let environment: RehearsalEnvironment
  let count: Int
  private let isReplayed: Bool
  private let output: Output
  private let observer: Observer
  private let workers: Workers
  private let begun = ContinuousClock.now

  /// The pause of the one 429, in real time.
  static let retryAfter = Duration.seconds(6)

  private var deployment: Deployment { environment.deployment }
  private var settings: RehearsalSettings { environment.settings }

  init(_ environment: RehearsalEnvironment, _ output: Output, workers count: Int, isReplayed: Bool) {
    (self.environment, self.output, self.count, self.isReplayed) = (environment, output, count, isReplayed)
    observer = Observer(RehearsalEvents(prefix: environment.deployment.prefix))
    workers = Workers(environment.deployment)
  }

  func run() async throws -> RunResult {
    try await ScenarioRig.run {
      try await ScenarioRig.run {
        do {
          return try await rehearse()
        } catch let error as RunError {
          throw RunError("\(error)\(await missing(observer).map { "\n    \($0)" }.joined())")
        }
      } thenAlways: {
        for group in workers.all { await group.killAll() }
      }
    } beside: {
      try await observer.follow(RehearsalEvents.topics.map { deployment.prefix + $0 }, of: deployment)
    }
  }

  private func say(_ line: String) {
    let seconds = (ContinuousClock.now - begun).components.seconds
    ScenarioRig.say("\(count == 1 ? "1 worker" : "\(count) workers"), \(seconds) s: \(line)")
  }

  private func rehearse() async throws -> RunResult {
    try await withThrowingTaskGroup(of: Void.self) { starts in
      for group in [workers.extensions, workers.refunds] {
        starts.addTask {
          try await group.start(count)
          try await group.waitUntilReady()
        }
      }
      try await starts.waitForAll()
    }
    say("as many processes of renewal-extensions and of refunds are running")

    let began = environment.clock.wallTime
    var participants = Participants(environment.simulator, size: settings.size, seed: deployment.rig.seed)
    var wave = RefundWave(environment)
    try await startCampaign(&participants, since: began)
    inject()
    say("the mass extension was requested; Apple's API fails while the failures arrive")
    try await wave.roll(settings.refunds)

    let killed = try await work(&wave)
    try await settle()
    var result = RunResult(
      workers: count, environment, observer, participants, since: began, killed: killed, twins: wave.twins,
      lanes: try await lanes())
    say(result.headline)
    if isReplayed {
      result.replay = try await RepeatRun(environment: environment, observer: observer, workers: workers).run()
      say(result.replay?.headline ?? "")
    }
    for group in workers.all { result.faults += try await group.leave().map(\.description) }
    return result
  }

  // MARK: - The outage

  /// Starts a campaign, and makes some subscribers ineligible before Apple extends them.
  private func startCampaign(_ participants: inout Participants, since began: Timestamp) async throws {
    async let command: Void = deployment.succeed(
      ["campaigns", "start", "--product", RehearsalSettings.monthly, "--days", "7", "--reason", "3", "--yes"],
      file: "campaign")
    try await deployment.wait(for: "the request for the mass extension") {
      environment.simulator.services.journal.contains { $0.endpoint == .massExtendRenewalDate && $0.status == 200 }
    }
    try participants.apply(to: environment.simulator, at: environment.clock.wallTime, since: began)
    try await command
  }

  private func inject() {
    let now = environment.clock.wallTime
    let extend: Set<SimulatedEndpoint> = [.extendSubscriptionRenewalDate]
    // Times are in seconds of real time. The first failures arrive after three.
    func from(_ start: Double, _ end: Double, _ effect: FaultEffect, share: Double = 1, count: Int? = nil) {
      func moment(_ seconds: Double) -> Timestamp { now + settings.lasting(.seconds(seconds)) }
      environment.simulator.services.inject(
        Fault(
          effect, endpoints: extend, from: moment(start), until: moment(end), count: count, share: share))
    }
    from(0, 4, .answerLost, share: 0.3)
    from(0, 1_000, .unauthorized, count: 1)
    from(4, 7, .failure(status: 503, body: .html))
    from(
      8.5, 1_000, .tooManyRequests(.milliseconds(from: settings.lasting(Self.retryAfter))), count: 1)
    from(7, 1_000, .failure(status: 500, body: .json(code: 5_000_001, message: "again")), share: 0.05)
    from(7, 1_000, .connectionReset, share: 0.05)
    from(7, 1_000, .truncatedBody(share: 0.5), share: 0.05)
    from(7, 1_000, .answerLost, share: 0.1)
  }

  // MARK: - The work

  /// Waits until every failure has a result. With several processes, kills one half-way and starts another.
  /// - Returns: The time from the kill until every lane was running again.
  private func work(_ wave: inout RefundWave) async throws -> Range<Timestamp>? {
    var killed: Range<Timestamp>?
    var isRolledOn = false
    var line = ProgressLine(output)
    try await deployment.wait(
      for: "every failure to end", state: { ": \(progress.text)" }, every: .milliseconds(50)
    ) {
      try await environment.accepted.postFailed(environment.clock)
      let progress = progress
      line.show(progress)
      guard progress.isTold, progress.ended * 2 >= progress.failures else { return false }
      if !isRolledOn {
        isRolledOn = true
        try await wave.roll(settings.refunds / 2)
      }
      if killed == nil, count > 1, isPauseShared {
        let death = environment.clock.wallTime
        await workers.extensions.end(0, by: .kill)
        try await workers.extensions.start(count)
        try await workers.extensions.waitUntilReady()
        killed = death..<environment.clock.wallTime
        line.end()
        say("killed one process with records in flight and started another")
      }
      return progress.ended == progress.failures && isTableTrue && (killed != nil || count == 1)
    }
    line.end()
    return killed
  }

  /// Whether a process that Apple told to wait has had a second to tell the others. If it is killed before that, nobody
  /// else knows of the pause.
  private var isPauseShared: Bool {
    let latest = environment.clock.wallTime + settings.lasting(.seconds(-1))
    return environment.simulator.services.journal.allSatisfy { $0.status != 429 || $0.time <= latest }
  }

  private var progress: Progress {
    let (failures, isTold) = environment.simulator.world.withState { state in
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
      calls: environment.simulator.services.report.asked.first { $0.endpoint == .extendSubscriptionRenewalDate })
  }

  /// Whether the table matches the simulator's state.
  private var isTableTrue: Bool {
    RunResult.differences(observer.table, RefundWave.truth(environment.simulator)).isEmpty
      && observer.names["campaign.completed"] != nil
  }

  /// The lane of every subscription with a notification.
  private func lanes() async throws -> [Int64: Int] {
    let topic = deployment.prefix + NotificationFamily.renewalExtensions.topic
    let records = try await deployment.log.everything(in: [topic])
    let trimmed = try await deployment.log.trimmed(of: [topic, deployment.prefix + NotificationFamily.refunds.topic])
    guard trimmed.isEmpty else { throw RunError("\(trimmed) were trimmed: the run is larger than the cluster") }
    return Dictionary(
      records.compactMap { record in
        Int64(String(decoding: record.key ?? [], as: UTF8.self)).map { ($0, Int(record.partition)) }
      }, uniquingKeysWith: { first, _ in first })
  }

  /// Waits for Apple's duplicate and late deliveries, and until everything is read.
  private func settle() async throws {
    try await deployment.wait(for: "the last deliveries") {
      try await environment.accepted.postFailed(environment.clock)
      return environment.simulator.report.deliveries.waiting <= environment.accepted.failures
    }
    for group in [workers.extensions, workers.refunds] {
      try await deployment.wait(for: "\(group.worker) to have read everything") {
        let lag = try await group.sum("millrace_worker_lag_records")
        let inFlight = try await group.sum("millrace_worker_records_in_flight")
        return lag == 0 && inFlight == 0
      }
    }
  }
}
