// Resolves conflicts between operators' commands by their order in one log, without a coordinator.

/// The state of `millrace.operations` as one worker sees it.
///
/// The first command for an item in the log's order wins, for every reader. The owner of the item's lane executes it
/// and writes the result in the same transaction, so an open command has not been executed. If a command fails, the
/// next command for its item wins.
package struct OperationsLog: Sendable {
  /// The effect of a record on the state.
  package enum Change: Sendable, Hashable {
    /// The command is the winner for its item.
    case accepted
    /// Another command for the item came first.
    case refused(winner: String)
    /// A replay made progress.
    case advanced
    /// The command is finished.
    case finished
    /// A run was paused, resumed or stopped.
    case controlled
    /// The record belongs to another worker, is a repetition, or refers to nothing that is open.
    case ignored
  }

  /// The status of an item.
  package struct Status: Sendable, Hashable {
    /// The command that won.
    package var command: OperationCommand
    /// The last result of the command.
    package var outcome: OperationResult.Outcome?
    /// The number of records that a replay has sent.
    package var sent: Int64 = 0

    /// The position where a replay continues; nil if no progress was recorded or the replay is finished.
    package var place: ReplayPlace? {
      guard case .progress(let next)? = outcome else { return nil }
      return ReplayPlace(next: next, sent: sent)
    }

    /// The reason why the command failed; nil if it has not failed.
    package var failure: String? {
      guard case .failed(let why)? = outcome else { return nil }
      return why
    }

    /// Whether the command failed. Then nothing was done, and the next command for the item wins.
    package var isFree: Bool { failure != nil }

    /// Whether the owner of the lane still has work to do.
    package var isOpen: Bool {
      switch outcome {
      case nil, .progress: true
      case .done, .failed, .stopped: false
      }
    }
  }

  private let worker: String
  private let keepsFinished: Bool
  private var statuses: [String: Status] = [:]
  // If finished commands are not kept: the items that no further command wins, and for the other items the last command,
  // which failed. A digest of an item takes about 30 bytes, a status about 700.
  private var closed: Set<LedgerKey> = []
  private var failed: [LedgerKey: LedgerKey] = [:]
  // In the log's order. Finished commands are removed once they are the larger part.
  private var openCommands: [(item: String, id: String)] = []
  private var finished = 0
  private var openParts: [String: Int] = [:]
  private var verbs: [String: RunVerb] = [:]

  /// - Parameter keepsFinished: Whether the log keeps the status of finished commands. Commands stay in the topic for a
  ///   year, so a process that runs for long keeps only whether they are finished.
  package init(worker: String, keepsFinished: Bool = true) {
    self.worker = worker
    self.keepsFinished = keepsFinished
  }

  /// Applies the next record of the topic.
  package mutating func fold(_ record: OperationsRecord) -> Change {
    switch record {
    case .command(let command):
      guard command.worker == worker, !isKnown(command) else { return .ignored }
      if let status = statuses[command.item] {
        let winner = status.command.id
        guard winner != command.id else { return .ignored }
        guard status.isFree else { return .refused(winner: winner) }
      }
      statuses[command.item] = Status(command: command)
      openCommands.append((command.item, command.id))
      if let run = command.run { openParts[run, default: 0] += 1 }
      return .accepted
    case .result(let result):
      guard result.worker == worker, let status = statuses[result.item], status.isOpen,
        status.command.id == result.command
      else { return .ignored }
      statuses[result.item]?.outcome = result.outcome
      statuses[result.item]?.sent = result.sent
      guard statuses[result.item]?.isOpen == false else { return .advanced }
      if let run = status.command.run {
        let left = openParts(of: run) - 1
        openParts[run] = left > 0 ? left : nil
      }
      if !keepsFinished { forget(status.command, result.outcome) }
      finished += 1
      if finished > 64, finished * 2 > openCommands.count {
        let statuses = statuses
        openCommands.removeAll { Self.status($0, in: statuses)?.isOpen != true }
        finished = 0
      }
      return .finished
    case .control(let control):
      // A stopped run cannot be resumed.
      guard verbs[control.run] != .stop, verbs[control.run] != control.verb else { return .ignored }
      verbs[control.run] = control.verb
      return .controlled
    }
  }

  /// Whether a finished command that is not kept was this one, or decided about its item.
  private func isKnown(_ command: OperationCommand) -> Bool {
    guard !closed.isEmpty || !failed.isEmpty else { return false }
    let item = LedgerKey(id: command.item)
    return closed.contains(item) || failed[item] == LedgerKey(id: command.id)
  }

  /// Keeps only what decides about later commands for the item of a finished command.
  private mutating func forget(_ command: OperationCommand, _ outcome: OperationResult.Outcome) {
    statuses[command.item] = nil
    let item = LedgerKey(id: command.item)
    failed[item] = nil
    if case .failed = outcome { failed[item] = LedgerKey(id: command.id) } else { closed.insert(item) }
  }

  /// Whether no command for an item has succeeded or is open.
  func isFree(_ item: String) -> Bool {
    if let status = statuses[item] { return status.isFree }
    return closed.isEmpty || !closed.contains(LedgerKey(id: item))
  }

  /// The last instruction for a run; nil if there is none.
  package func control(on run: String) -> RunVerb? { verbs[run] }

  /// The number of unfinished parts of a run.
  package func openParts(of run: String) -> Int { openParts[run] ?? 0 }

  /// Whether there are no commands.
  package var isEmpty: Bool { statuses.isEmpty }

  /// The status of an item; nil if there is no command for it, or if it is finished and not kept.
  package func status(of item: String) -> Status? { statuses[item] }

  /// The commands that the owner of a lane has to execute, in the log's order.
  func open(lane: Int32) -> [Status] {
    openCommands.compactMap { Self.status($0, in: statuses) }.filter { $0.isOpen && $0.command.lane == lane }
  }

  /// The status of a command's item, if the command is the winner.
  private static func status(_ entry: (item: String, id: String), in statuses: [String: Status]) -> Status? {
    guard let status = statuses[entry.item], status.command.id == entry.id else { return nil }
    return status
  }

  /// The status of every item that has a command, without those that are finished and not kept.
  package var all: [String: Status] { statuses }
}
