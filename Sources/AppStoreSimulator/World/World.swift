// The world behind a lock: operations are short and synchronous, so that API, delivery and scenario see one order.

public import AppStore
internal import Synchronization

/// A world of apps, customers and purchases. One seed gives one history, as long as the same things are asked of it at
/// the same times.
public final class World: Sendable {
  private let state: Mutex<WorldState>
  private let watchers = Mutex<[AsyncStream<Void>.Continuation]>([])

  /// A world in which nothing has happened.
  ///
  /// - Parameters:
  ///   - seed: reproduces identifiers and behaviour.
  ///   - beginning: the moment before everything.
  public init(
    apps: [SimulatedApp], seed: UInt64, behaviour: Behaviour = Behaviour(), limits: WorldLimits = WorldLimits(),
    beginning: Timestamp
  ) {
    state = Mutex(WorldState(apps: apps, seed: seed, behaviour: behaviour, limits: limits, beginning: beginning))
  }

  /// Looks at the world or changes it. Nothing else happens meanwhile: no waiting and no signing inside.
  public func withState<Result: Sendable, Failure: Error>(
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

  /// Does something at a moment of the world's time, in the order of its events, outside of the lock.
  public func schedule(at moment: Timestamp, _ action: @escaping @Sendable (World, Timestamp) -> Void) {
    withState { $0.events.add(.action(action), at: moment) }
  }

  /// When the next thing happens by itself; nil: never.
  public var nextEvent: Timestamp? { state.withLock { $0.events.nextDue } }

  /// Lets everything happen that is due by `moment`, in the order of time, each thing at its own moment.
  ///
  /// - Returns: how many things happened.
  @discardableResult
  public func run(until moment: Timestamp) throws(WorldError) -> Int {
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

  /// A value whenever there is something to deliver or the next event has changed; several at once become one.
  func news() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    watchers.withLock { $0.append(continuation) }
    return stream
  }
}
