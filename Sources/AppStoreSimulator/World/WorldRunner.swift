// Processes the world's events when they are due.

internal import AppStore
package import MillraceTime
internal import ServiceLifecycle

/// Runs a world by a clock.
package struct WorldRunner: Service {
  private let world: World
  private let clock: MillraceClock

  /// Creates a runner. A world needs exactly one.
  package init(world: World, clock: MillraceClock) {
    self.world = world
    self.clock = clock
  }

  /// Runs until shut down.
  package func run() async throws {
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
