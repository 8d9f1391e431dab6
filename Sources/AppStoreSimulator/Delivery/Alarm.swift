// Runs a function whenever there is news and at the times the function returns. The world's events and the deliveries
// both use it.

internal import AppStore
internal import MillraceTime

struct Alarm: Sendable {
  typealias Group = ThrowingDiscardingTaskGroup<any Error>

  let clock: MillraceClock

  /// Calls `work` immediately, for every piece of news, and at the time that the last call returned. Ends when
  /// cancelled.
  ///
  /// - Parameter work: receives a group whose tasks live no longer than this call, and a closure that triggers another
  ///   call. Returns the next time to run, or nil for none.
  /// - Throws: any error thrown by `work` or a task of the group.
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
      // The times for which a task is sleeping. An earlier one is sufficient, because its call schedules the next.
      var armed: Set<Timestamp> = []
      for await _ in bell {
        let now = clock.wallTime
        armed = armed.filter { $0 > now }
        guard let next = try work(&group, wake), !armed.contains(where: { $0 <= next }) else { continue }
        armed.insert(next)
        group.addTask {
          // Never wake early: the call would find nothing due and would not schedule the time again.
          while next > clock.wallTime { try await clock.sleep(for: next - clock.wallTime) }
          wake()
        }
      }
      group.cancelAll()
    }
  }
}
