// Lets things happen when their time comes.

internal import AppStore
public import Clocks
public import ServiceLifecycle

/// Runs a world along a clock.
public struct WorldRunner: Service {
  private let world: World
  private let clock: MillraceClock

  /// A runner; one for each world.
  public init(world: World, clock: MillraceClock) {
    self.world = world
    self.clock = clock
  }

  /// Runs until shut down.
  public func run() async throws {
    let news = world.news()
    do {
      try await cancelWhenGracefulShutdown {
        try await Alarm(clock: clock).run(news: news) { _, _ in
          try world.run(until: clock.wallTime)
          return world.nextEvent
        }
      }
    } catch is CancellationError {
      return
    }
  }
}
