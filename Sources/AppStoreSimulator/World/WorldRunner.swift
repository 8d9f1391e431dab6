// Processes the world's events when they are due.

internal import AppStore
public import MillraceTime
public import ServiceLifecycle

/// Runs a world by a clock.
public struct WorldRunner: Service {
  private let world: World
  private let clock: MillraceClock

  /// Creates a runner. A world needs exactly one.
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
