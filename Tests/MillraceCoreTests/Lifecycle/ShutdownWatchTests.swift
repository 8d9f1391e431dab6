import MillraceTime
import Logging
import ServiceLifecycle
import Testing

@testable import MillraceCore

@Suite struct ShutdownWatchTests {
  private struct Started: Service {
    let told: AsyncStream<Void>.Continuation
    func run() async throws {
      told.yield()
      try await gracefulShutdown()
    }
  }

  @Test func `A stopping process reports draining and is forced to exit after the limit`() async throws {
    let manual = ManualClock()
    let board = ReadinessBoard([], clock: manual.clock, timeout: .seconds(1), maxAge: .zero)
    let (exits, exited) = AsyncStream.makeStream(of: MillraceCore.ExitStatus.self)
    let (starts, started) = AsyncStream.makeStream(of: Void.self)
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let watch = ShutdownWatch(
      limit: .seconds(30), clock: manual.clock, readiness: board, logger: logger, forceExit: { exited.yield($0) })
    let group = ServiceGroup(
      configuration: .init(services: [watch, Started(told: started)], logger: logger))
    let running = Task { try await group.run() }
    for await _ in starts { break }
    #expect(await board.report().isHealthy)
    await group.triggerGracefulShutdown()
    try await running.value
    #expect(await board.report().entries.map(\.name) == ["draining"])
    await manual.waitForSleepers()
    manual.advance(by: .seconds(30))
    var iterator = exits.makeAsyncIterator()
    #expect(await iterator.next() == .software)
  }
}
