// The executor of the whole process: every job goes to the scheduler of the simulation. It uses interfaces of the Swift
// runtime that are not public, so the simulation is tied to the Swift version that `scripts/simulate` names.

internal import CSimulation
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) internal import _Concurrency

final class SimulationExecutor: TaskExecutor, SerialExecutor, SchedulingExecutor, MainExecutor {
  static let shared = SimulationExecutor()

  /// Makes this the executor of all tasks. Call it before the first task exists.
  static func install() {
    _createExecutors(factory: Factory.self)
    let (identity, implementation) = unsafeBitCast(
      shared.asUnownedTaskExecutor(), to: (UnsafeMutableRawPointer, UnsafeMutableRawPointer).self)
    simulation_prefer(identity, implementation)
  }

  private struct Factory: ExecutorFactory {
    static var mainExecutor: any MainExecutor { SimulationExecutor.shared }
    static var defaultExecutor: any TaskExecutor { SimulationExecutor.shared }
  }

  func enqueue(_ job: consuming ExecutorJob) { simulation_enqueue(Self.pointer(UnownedJob(job))) }

  func enqueue<C: Clock>(_ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C) {
    simulation_enqueue_after(Self.nanoseconds(delay), Self.pointer(UnownedJob(job)))
  }

  func enqueue<C: Clock>(_ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C) {
    let delay = Self.nanoseconds(clock.now.duration(to: instant))
    simulation_enqueue_after(delay, Self.pointer(UnownedJob(job)))
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
  func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }
  func checkIsolated() {}

  // The program runs the scheduler itself.
  func run() throws { while simulation_step() {} }
  func runUntil(_ condition: () -> Bool) throws { while !condition(), simulation_step() {} }
  func stop() {}

  private static func pointer(_ job: UnownedJob) -> UnsafeMutableRawPointer {
    unsafeBitCast(job, to: UnsafeMutableRawPointer.self)
  }

  private static func nanoseconds<D: DurationProtocol>(_ duration: D) -> UInt64 {
    (duration as? Duration ?? .zero).simulated
  }
}

extension Duration {
  /// The whole nanoseconds; 0 if negative.
  var simulated: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }
}
