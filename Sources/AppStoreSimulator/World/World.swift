// The world behind a lock. Operations are short and synchronous, so the API, the deliveries and the scenario see one
// order of events.

package import AppStore
internal import Synchronization

/// A world of apps, customers and purchases. The same seed produces the same history if the same operations happen at
/// the same times.
package final class World: Sendable {
  private let state: Mutex<WorldState>
  private let watchers = Mutex<[AsyncStream<Void>.Continuation]>([])

  /// Creates a world in which nothing has happened.
  ///
  /// - Parameters:
  ///   - seed: reproduces identifiers and behaviour.
  ///   - beginning: the time of the world's beginning, before its first event.
  package init(
    apps: [SimulatedApp], seed: UInt64, behaviour: Behaviour = Behaviour(), limits: WorldLimits = WorldLimits(),
    beginning: Timestamp
  ) {
    state = Mutex(WorldState(apps: apps, seed: seed, behaviour: behaviour, limits: limits, beginning: beginning))
  }

  /// Reads or changes the world while holding its lock. `body` must not wait or sign.
  package func withState<Result: Sendable, Failure: Error>(
    _ body: (inout WorldState) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let (result, isNews) = try state.withLock { state throws(Failure) in
      let before = (state.outbox.count, state.events.nextDue)
      let result = try body(&state)
      return (result, state.outbox.count > before.0 || state.events.nextDue != before.1)
    }
    if isNews {
      watchers.withLock { watchers in
        for watcher in watchers { watcher.yield() }
      }
    }
    return result
  }

  /// Schedules an action at a time of the world. It runs outside the lock, in order with the world's events.
  package func schedule(at moment: Timestamp, _ action: @escaping @Sendable (World, Timestamp) -> Void) {
    withState { $0.events.add(.action(action), at: moment) }
  }

  /// The time of the next scheduled event; nil if there is none.
  package var nextEvent: Timestamp? { state.withLock { $0.events.nextDue } }

  /// Processes all events that are due by `moment`, in order, each at its own time.
  ///
  /// - Returns: the number of events processed.
  @discardableResult
  package func run(until moment: Timestamp) throws(WorldError) -> Int {
    var count = 0
    while true {
      let step: Result<(@Sendable () -> Void)?, WorldError> = withState { state in
        guard let (due, event) = state.events.popDue(by: moment) else { return .success(nil) }
        do throws(WorldError) {
          let action = try state.process(event, at: due)
          return .success({ action?(self, due) })
        } catch {
          return .failure(error)
        }
      }
      guard let next = try step.get() else { return count }
      next()
      count += 1
    }
  }

  /// A stream with an element whenever there is something to deliver or the next event has changed. Pending elements
  /// are merged into one.
  func news() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    watchers.withLock { $0.append(continuation) }
    return stream
  }
}
