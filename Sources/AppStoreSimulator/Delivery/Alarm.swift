// Doing something whenever there is news and at the moments it names itself: what the world's own events and the
// deliveries have in common.

internal import AppStore
internal import Clocks

struct Alarm: Sendable {
  typealias Group = ThrowingDiscardingTaskGroup<any Error>

  let clock: MillraceClock

  /// Calls `work` at once, for every piece of news, and at the moment that the last call gave; ends when cancelled.
  ///
  /// - Parameter work: gets a group whose tasks live no longer than this call, and a closure that makes news. Gives the
  ///   next moment; nil: none.
  /// - Throws: what `work` or a task of the group throws.
  func run(
    news: AsyncStream<Void>,
    _ work: (inout Group, _ wake: @escaping @Sendable () -> Void) throws -> Timestamp?
  ) async throws {
    let (bell, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let wake: @Sendable () -> Void = { continuation.yield() }
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask {
        for await _ in news { wake() }
      }
      wake()
      // Sleepers that have not woken. One that comes in time serves; a far one is not armed anew after each near one.
      var armed: Set<Timestamp> = []
      for await _ in bell {
        let now = clock.wallTime
        armed = armed.filter { $0 > now }
        guard let next = try work(&group, wake), !armed.contains(where: { $0 <= next }) else { continue }
        armed.insert(next)
        group.addTask {
          // Never a moment too soon: who woke before it would find nothing due, and the moment armed already.
          while next > clock.wallTime { try await clock.sleep(for: next - clock.wallTime) }
          wake()
        }
      }
      group.cancelAll()
    }
  }
}
