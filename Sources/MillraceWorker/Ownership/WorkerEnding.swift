// Collects the errors that end a worker or one of its group memberships. The first error counts.

internal import KafkaClient
internal import Synchronization
internal import MillraceCore
internal import MillraceRecords

/// Makes a worker leave its group if a part of it fails, and keeps the reason.
final class WorkerEnding: Sendable {
  private struct State {
    var cause: (any Error)?
    var loss: ProducerLoss?
    var reader: (any LogReader)?
  }

  private let onLoss: @Sendable (ProducerLoss) -> Void
  private let state = Mutex(State())

  /// - Parameter onLoss: Called with a loss before the worker leaves its group.
  init(onLoss: @escaping @Sendable (ProducerLoss) -> Void) { self.onLoss = onLoss }

  /// The error that ends the process; nil if nothing failed, or if the worker can rejoin its group.
  var cause: (any Error)? { state.withLock { $0.cause } }

  /// Whether the membership is over.
  var isOver: Bool { state.withLock { $0.cause != nil || $0.loss != nil } }

  /// Sets the reader that leaves the group. It leaves at once if something has already failed.
  func attach(_ reader: any LogReader) {
    let isOver = state.withLock { state in
      state.reader = reader
      return state.cause != nil
    }
    if isOver { reader.shutDown() }
  }

  /// A membership that ended because of a loss, with its reader, which has left the group.
  struct Former {
    var loss: ProducerLoss
    /// Nil if the membership ended before it had one.
    var reader: (any LogReader)?
  }

  /// Removes and returns the last membership if a loss has ended it.
  func takeFormer() -> Former? {
    state.withLock { state in
      defer { (state.loss, state.reader) = (nil, nil) }
      return state.loss.map { Former(loss: $0, reader: state.reader) }
    }
  }

  func failed(_ error: any Error) {
    let reader = state.withLock { state in
      if let loss = error as? ProducerLoss {
        // A member that was fenced explains what else it has lost.
        if state.loss == nil || loss.reason == .fencedInstance { state.loss = loss }
      } else if state.cause == nil || (error as? MillraceError)?.area == .membership {
        // If another process has this one's name, that is the cause of all other errors.
        state.cause = error
      }
      return state.reader
    }
    if let loss = error as? ProducerLoss { onLoss(loss) }
    reader?.shutDown()
  }

  func onFailure(of part: @Sendable () async throws -> Void) async {
    do {
      try await part()
    } catch is CancellationError {
      // The worker is leaving its group.
    } catch {
      failed(error)
    }
  }
}
