// Runs the tasks of a connection on its event loop. Otherwise every part of a request moves to another thread and back,
// which cost as much as the rest of the server together.

internal import HummingbirdCore
internal import Logging
internal import NIOCore

/// A connection whose requests are handled on its event loop.
///
/// Handlers must not block, because other connections of the loop wait meanwhile, as they would wait for a core. For a
/// genuine notification the longest step is a signature check, about 50 µs. An unknown certificate chain, a version 1
/// body of 2 MiB and a line to standard error take longer.
struct EventLoopChannel<Base: ServerChildChannel>: ServerChildChannel {
  let base: Base

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
    base.setup(channel: channel, logger: logger)
  }

  func handle(value: Base.Value, logger: Logger) async {
    await withTaskExecutorPreference(EventLoopExecutor(value.channel.eventLoop)) {
      await base.handle(value: value, logger: logger)
    }
  }
}

/// Runs tasks on an event loop.
private final class EventLoopExecutor: TaskExecutor {
  private let eventLoop: any EventLoop

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
