// Who won: many operators, no coordinator, one log.

/// The records of `millrace.operations` so far, as one worker sees them.
///
/// The first command for an item in the log's order wins, whoever folds it and whenever. The owner of the item's lane
/// executes it and writes the result in the same transaction; so an open command is one that nobody has executed.
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
    /// Of another worker, said before, or about nothing that is open.
    case ignored
  }

  /// Where an item stands.
  package struct Standing: Sendable, Hashable {
    /// The command that won.
    package var command: OperationCommand
    /// Its last result.
    package var outcome: OperationResult.Outcome?

    /// Whether its lane's owner still has to do something.
    package var isOpen: Bool {
      switch outcome {
      case nil, .progress: true
      case .done, .failed: false
      }
    }
  }

  private let worker: String
  private var standings: [String: Standing] = [:]
  // In the log's order.
  private var openItems: [String] = []

  package init(worker: String) { self.worker = worker }

  /// Folds the next record of the topic.
  package mutating func fold(_ record: OperationsRecord) -> Change {
    switch record {
    case .command(let command):
      guard command.worker == worker else { return .ignored }
      if let winner = standings[command.item]?.command.id {
        return winner == command.id ? .ignored : .refused(winner: winner)
      }
      standings[command.item] = Standing(command: command)
      openItems.append(command.item)
      return .accepted
    case .result(let result):
      guard result.worker == worker, let standing = standings[result.item], standing.isOpen,
        standing.command.id == result.command
      else { return .ignored }
      standings[result.item]?.outcome = result.outcome
      guard standings[result.item]?.isOpen == false else { return .advanced }
      openItems.removeAll { $0 == result.item }
      return .finished
    }
  }

  /// Where an item stands; nil: nobody said anything about it.
  package func standing(of item: String) -> Standing? { standings[item] }

  /// What the owner of a lane has to execute, in the log's order.
  func open(lane: Int32) -> [Standing] {
    openItems.compactMap { standings[$0] }.filter { $0.command.lane == lane }
  }
}
