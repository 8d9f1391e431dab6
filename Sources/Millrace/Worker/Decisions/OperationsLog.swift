// Who won: many operators, no coordinator, one log.

/// The records of `millrace.operations` so far, as one worker sees them.
///
/// The first command for an item in the log's order wins, whoever folds it and whenever. The owner of the item's lane
/// executes it and writes the result in the same transaction; so an open command is one that nobody has executed. A
/// command that could not be executed settles nothing: the next one for its item wins.
package struct OperationsLog: Sendable {
  /// What a record changed.
  package enum Change: Sendable, Hashable {
    /// The command stands.
    case accepted
    /// Another command for the item came first.
    case refused(winner: String)
    /// A replay went on.
    case advanced
    /// The command is finished.
    case finished
    /// A run is to wait, go on or end.
    case controlled
    /// Of another worker, said before, or about nothing that is open.
    case ignored
  }

  /// Where an item stands.
  package struct Standing: Sendable, Hashable {
    /// The command that won.
    package var command: OperationCommand
    /// Its last result.
    package var outcome: OperationResult.Outcome?
    /// How many records it has sent, where it is a replay.
    package var sent: Int64 = 0

    /// Where a replay goes on; nil where nothing was noted of it, or it is finished.
    package var place: ReplayPlace? {
      guard case .progress(let next)? = outcome else { return nil }
      return ReplayPlace(next: next, sent: sent)
    }

    /// Why the command could not be carried out; nil where it was, or nobody has tried.
    package var failure: String? {
      guard case .failed(let why)? = outcome else { return nil }
      return why
    }

    /// Whether the item is as if nobody had said anything: nothing was done, and the next command for it wins.
    package var isFree: Bool { failure != nil }

    /// Whether its lane's owner still has to do something.
    package var isOpen: Bool {
      switch outcome {
      case nil, .progress: true
      case .done, .failed, .stopped: false
      }
    }
  }

  private let worker: String
  private var standings: [String: Standing] = [:]
  // In the log's order; finished ones are taken out when they are the larger part.
  private var openCommands: [(item: String, id: String)] = []
  private var finished = 0
  private var openParts: [String: Int] = [:]
  private var words: [String: RunControl.Verb] = [:]

  package init(worker: String) { self.worker = worker }

  /// Folds the next record of the topic.
  package mutating func fold(_ record: OperationsRecord) -> Change {
    switch record {
    case .command(let command):
      guard command.worker == worker else { return .ignored }
      if let standing = standings[command.item] {
        let winner = standing.command.id
        guard winner != command.id else { return .ignored }
        guard standing.isFree else { return .refused(winner: winner) }
      }
      standings[command.item] = Standing(command: command)
      openCommands.append((command.item, command.id))
      if let run = command.run { openParts[run, default: 0] += 1 }
      return .accepted
    case .result(let result):
      guard result.worker == worker, let standing = standings[result.item], standing.isOpen,
        standing.command.id == result.command
      else { return .ignored }
      standings[result.item]?.outcome = result.outcome
      standings[result.item]?.sent = result.sent
      guard standings[result.item]?.isOpen == false else { return .advanced }
      if let run = standing.command.run { openParts[run, default: 1] -= 1 }
      finished += 1
      if finished > 64, finished * 2 > openCommands.count {
        let standings = standings
        openCommands.removeAll { Self.standing($0, in: standings)?.isOpen != true }
        finished = 0
      }
      return .finished
    case .control(let control):
      // Whoever ends a run ends it for good.
      guard words[control.run] != .stop, words[control.run] != control.verb else { return .ignored }
      words[control.run] = control.verb
      return .controlled
    }
  }

  /// The last word about a run; nil: nobody said anything.
  package func word(on run: String) -> RunControl.Verb? { words[run] }

  /// How many parts of a run are not finished.
  package func openParts(of run: String) -> Int { openParts[run] ?? 0 }

  /// Whether nobody has said anything about any item.
  package var isEmpty: Bool { standings.isEmpty }

  /// Where an item stands; nil: nobody said anything about it.
  package func standing(of item: String) -> Standing? { standings[item] }

  /// What the owner of a lane has to execute, in the log's order.
  func open(lane: Int32) -> [Standing] {
    openCommands.compactMap { Self.standing($0, in: standings) }.filter { $0.isOpen && $0.command.lane == lane }
  }

  /// Where the item of a command stands, as long as the command is its winner.
  private static func standing(_ entry: (item: String, id: String), in standings: [String: Standing]) -> Standing? {
    guard let standing = standings[entry.item], standing.command.id == entry.id else { return nil }
    return standing
  }

  /// The items that somebody has a command for, with where they stand.
  package var all: [String: Standing] { standings }
}
