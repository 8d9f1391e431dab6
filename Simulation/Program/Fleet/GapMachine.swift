// Notifications that Apple has given up, and the backfills that fetch them from its history.

internal import AppStore
internal import AppStoreServerAPI
internal import AppStoreSigning
internal import KafkaClient
internal import Logging
internal import MillraceCore
internal import MillraceRecords
internal import MillraceTime

@testable internal import Ingress
@testable internal import Operations

final class GapMachine: @unchecked Sendable {
  /// The share of failed attempts after which Apple gives up.
  static let share = 0.3
  /// The topics that a backfill needs.
  static func topics() throws -> [String] {
    try TopicCatalog.load(TopicSettings()).notificationTopics.map(\.name)
      + [BackfillRecord.topic, QuarantineRecord.topic, AuditRecord.topic]
  }

  private unowned let fleet: Fleet
  private let apple: AppleModel
  private let admission: NotificationAdmission
  private let begin = MillraceClock.ofSimulation.wallTime
  private var runs: [Run] = []
  /// The notifications that no run has fetched.
  private var missed: [(at: Timestamp, answered: () -> Void)] = []

  private struct Run {
    var name: String
    var to: Timestamp
    var isDone = false
  }

  init(_ fleet: Fleet, _ apple: AppleModel, _ admission: NotificationAdmission) {
    (self.fleet, self.apple, self.admission) = (fleet, apple, admission)
  }

  /// Notes that Apple no longer posts a notification.
  /// - Parameters:
  ///   - time: When Apple posted it for the first time.
  ///   - answered: Called when a backfill has fetched it.
  func miss(from time: Timestamp, answered: @escaping () -> Void) {
    missed.append((time, answered))
    settle()
  }

  /// Fetches everything that Apple has posted so far.
  func fill() {
    let run = Run(name: "backfill-\(runs.count + 1)", to: MillraceClock.ofSimulation.wallTime)
    guard run.to > begin else { return }
    let number = runs.count
    runs.append(run)
    fleet.timeline.add("operator", "\(run.name)")
    fleet.programs.run(run.name, until: { [self] in runs[number].isDone }) { [self] log, process in
      let operation = BackfillOperation(
        try parts(log, AppleExchange(fleet: fleet, process: process)), report: { _ in })
      guard try await execute(run, operation, BackfillLog(on: log, prefix: "")) == .done else { return }
      Simulation.deliver(to: .world, after: .zero) { [self] in
        runs[number].isDone = true
        settle()
      }
    }
  }

  /// Starts a run, or continues the one of an earlier program.
  private func execute(
    _ run: Run, _ operation: BackfillOperation, _ log: BackfillLog
  ) async throws -> BackfillRun.State {
    var begun = try await log.table().runs.first { $0.by == run.name }
    if let earlier = begun {
      if earlier.state.isOver { return earlier.state }
      begun = try await operation.goOn(with: earlier.id, by: run.name)
    }
    let selection = BackfillSelection(
      targets: [BackfillTarget(bundleId: apple.app.bundleId, environment: apple.app.environment)], from: begin,
      to: run.to)
    let current: BackfillRun
    if let begun {
      current = begun
    } else {
      let length = max(.milliseconds(1), (run.to - begin) / 3)
      current = try await operation.start(selection, sliceLength: length, by: run.name)
    }
    return try await operation.carryOut(current).state
  }

  private func parts(_ log: SimulatedLog, _ exchange: AppleExchange) throws -> BackfillOperation.Parts {
    let clock = MillraceClock.ofSimulation
    let clients = apple.credentials.mapValues { credentials in
      AppStoreServerClient(
        credentials: credentials, appAppleId: apple.app.appAppleId, verifier: apple.verifier, exchange: exchange,
        budget: APIBudget(limits: .documented, share: 0.8, part: BackfillOperation.budgetPart, clock: clock),
        clock: clock,
        logger: fleet.logger("backfill"))
    }
    var parts = BackfillOperation.Parts(
      log: BackfillLog(on: log, prefix: ""), clients: clients, admission: admission,
      catalog: try TopicCatalog.load(TopicSettings()), clock: clock)
    parts.pulse = clock
    return parts
  }

  private func settle() {
    guard let end = runs.filter(\.isDone).map(\.to).max() else { return }
    for item in missed where item.at < end { item.answered() }
    missed.removeAll { $0.at < end }
  }

  /// The runs that are not done, and the notifications without one.
  var open: [String] {
    runs.filter { !$0.isDone }.map(\.name)
      + (missed.isEmpty ? [] : ["\(missed.count) notifications without a backfill"])
  }
}
