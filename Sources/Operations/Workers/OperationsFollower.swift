// Follows `millrace.operations` for the results of one operator's commands.

internal import AppStore
internal import MillraceTime
internal import KafkaClient
package import MillraceWorker

/// Reports the results of commands as they are read.
actor OperationsFollower {
  private let commands: [OperationCommand]
  private let byID: [String: OperationCommand]
  private let clock: MillraceClock
  private let report: @Sendable (OperationReport) throws -> Void
  private var operations: OperationsLog
  private var open: Set<String>
  private var asked: Set<String> = []
  private var summary: OperationSummary
  private var heardAt: MillraceClock.Instant

  init(
    worker: String, _ action: OperationReport.Action, _ commands: [OperationCommand], clock: MillraceClock,
    report: @escaping @Sendable (OperationReport) throws -> Void
  ) {
    self.commands = commands
    byID = Dictionary(commands.map { ($0.id, $0) }) { first, _ in first }
    self.clock = clock
    self.report = report
    operations = OperationsLog(worker: worker)
    open = Set(commands.map(\.id))
    heardAt = clock.now
    summary = OperationSummary(action: action)
  }

  /// The operator's latest control request for the run.
  func control(on run: String) -> RunVerb? { operations.control(on: run) }

  /// Resets the silence timer: the operator is still sending commands, or the run is paused.
  func heard() { heardAt = clock.now }

  /// Marks these commands as sent.
  func ask(_ commands: some Sequence<OperationCommand>) { asked.formUnion(commands.map(\.id)) }

  /// The summary if no more results are read.
  var status: OperationSummary {
    var status = summary
    status.unanswered = open.intersection(asked).count
    status.withheld += open.subtracting(asked).count
    return status
  }

  /// Marks these commands as never to be sent.
  /// - Returns: Whether every other command has its result.
  func withhold(_ rest: some Sequence<OperationCommand>) -> Bool {
    for command in rest where open.remove(command.id) != nil { summary.withheld += 1 }
    return open.isEmpty
  }

  /// Reads a page. Skips and counts unreadable records, as the lanes' owners do.
  /// - Returns: Whether every command has its result.
  func fold(_ page: [ConsumerRecord]) throws -> Bool {
    for record in page {
      guard let operation = summary.passedOver.read(record) else { continue }
      let change = operations.fold(operation)
      switch operation {
      case .command(let command) where open.contains(command.id): try answer(command, change)
      case .result(let result) where open.contains(result.command): try answer(result, change)
      case .command, .result, .control: break
      }
    }
    return open.isEmpty
  }

  /// Reports the items that already have another command.
  /// - Returns: The commands whose items are free.
  func giveUpTaken() throws -> [OperationCommand] {
    try commands.filter { command in
      guard let status = operations.status(of: command.item), !status.isFree else { return true }
      try lose(command)
      return false
    }
  }

  /// Returns after a time without any result.
  func waitForSilence(of patience: Duration) async throws {
    while true {
      let end = heardAt.advanced(by: patience)
      guard end > clock.now else { return }
      try await clock.sleep(until: end)
    }
  }

  /// Reports the commands that are left without a result.
  func conclude() throws -> OperationSummary {
    for command in commands where open.contains(command.id) {
      summary.unanswered += 1
      try send(command, .unanswered)
    }
    return summary
  }

  private func answer(_ command: OperationCommand, _ change: OperationsLog.Change) throws {
    switch change {
    case .accepted: try send(command, .accepted)
    case .refused: try lose(command)
    case .advanced, .finished, .controlled, .ignored: break
    }
  }

  private func answer(_ result: OperationResult, _ change: OperationsLog.Change) throws {
    guard change == .finished, let command = byID[result.command] else { return }
    switch result.outcome {
    case .progress, .stopped: return
    case .done:
      open.remove(command.id)
      summary.done += 1
      try send(command, .done)
    case .failed(let detail):
      open.remove(command.id)
      summary.failed += 1
      try send(command, .failed(detail))
    }
  }

  private func lose(_ command: OperationCommand) throws {
    open.remove(command.id)
    summary.lost += 1
    guard let status = operations.status(of: command.item) else { return }
    let winner = status.command
    try send(command, .lost(by: winner.by, at: winner.at, why: winner.why, status: status.words))
  }

  private func send(_ command: OperationCommand, _ event: OperationReport.Event) throws {
    heardAt = clock.now
    try report(
      OperationReport(
        action: summary.action, item: command.item, command: command.id, lane: command.lane, event: event))
  }
}

extension OperationsLog.Status {
  /// The status in a word or two.
  package var words: String {
    let verb =
      switch command.action {
      case .discard: "discarded"
      case .erase: "erased"
      case .requeue, .replay: "sent again"
      }
    return switch outcome {
    case .done?: verb
    case .failed(let detail)?: "failed (\(detail))"
    case .progress?: "in progress"
    case .stopped?: "stopped"
    case nil: "not executed yet"
    }
  }
}
