// The world of one seed: its processes, its time, and calls that happen later. Everything runs on one thread, so the
// classes of the simulation need no locks; they are marked `@unchecked Sendable`.

internal import CSimulation
internal import MillraceTime
internal import AppStore

enum Simulation {
  /// The number of a simulated process.
  struct ProcessID: Hashable, Sendable {
    var number: UInt32
    static let world = ProcessID(number: UInt32(SIMULATION_WORLD))
    static var current: ProcessID { ProcessID(number: simulation_current_process()) }

    var isAlive: Bool { simulation_is_alive(number) }
    var isFrozen: Bool { simulation_is_frozen(number) }
  }

  /// Runs `body` under a seed until it returns. Call it once in a process of the machine.
  /// - Parameter mostJobs: The number of jobs after which the run counts as stuck.
  /// - Returns: Nil if nothing was left to run, or the limit was reached, before `body` returned.
  static func run<Value: Sendable>(
    seed: UInt64, policy: SimulationPolicy, mostJobs: UInt64 = 100_000_000,
    _ body: @escaping @Sendable () async -> Value
  ) -> Value? {
    simulation_begin(seed, policy)
    SimulationExecutor.install()
    let result = Box<Value?>(nil)
    Task { result.value = await body() }
    while result.value == nil, simulation_counts().jobs < mostJobs, simulation_step() {}
    return result.value
  }

  /// The time since the simulation began, by the world's clock.
  static var worldTime: Duration { .nanoseconds(Int64(simulation_world_time())) }

  /// Calls `body` as a part of a process, after a time on the world's clock.
  static func deliver(to process: ProcessID, after delay: Duration, _ body: @escaping () -> Void) {
    simulation_deliver_after(delay.simulated, process.number, Unmanaged.passRetained(Call(body)).toOpaque(), Call.run)
  }

  /// Calls `body` as a part of a process, after a time on the process's clock.
  static func call(in process: ProcessID, after delay: Duration, _ body: @escaping () -> Void) {
    simulation_call_after(delay.simulated, process.number, Unmanaged.passRetained(Call(body)).toOpaque(), Call.run)
  }

  /// Runs `body` now, as a part of a process.
  static func inside(_ process: ProcessID, _ body: @escaping () -> Void) {
    simulation_as(process.number, Unmanaged.passRetained(Call(body)).toOpaque(), Call.run)
  }

  private final class Call {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }

    static let run: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
      guard let context else { return }
      Unmanaged<Call>.fromOpaque(context).takeRetainedValue().body()
    }
  }
}

/// A variable that tasks of the simulation share.
final class Box<Value>: @unchecked Sendable {
  var value: Value
  init(_ value: Value) { self.value = value }
}

/// Random numbers of the seed, for plans and the network.
struct SeedGenerator: RandomNumberGenerator {
  func next() -> UInt64 { simulation_random() }

  static func number(_ range: ClosedRange<Int>) -> Int {
    var generator = SeedGenerator()
    return Int.random(in: range, using: &generator)
  }

  /// Returns true once in `count` times.
  static func chance(_ probability: Double) -> Bool {
    var generator = SeedGenerator()
    return Double.random(in: 0..<1, using: &generator) < probability
  }

  static func duration(_ range: ClosedRange<Duration>) -> Duration {
    let nanoseconds = number(Int(range.lowerBound.simulated)...Int(range.upperBound.simulated))
    return .nanoseconds(Int64(nanoseconds))
  }
}

extension MillraceClock {
  /// The clock of the current simulated process.
  static let ofSimulation = MillraceClock(
    wallTime: { Timestamp(millisecondsSince1970: Int64(simulation_wall_time() / 1_000_000)) },
    elapsed: { .nanoseconds(Int64(simulation_time())) },
    sleepUntil: { try await Task.sleep(for: $0 - .nanoseconds(Int64(simulation_time())), tolerance: nil) })

  func sleep(for duration: Duration) async throws { try await sleep(until: now.advanced(by: duration)) }
}
