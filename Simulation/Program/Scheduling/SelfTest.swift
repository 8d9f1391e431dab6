// Proves that the scheduler still controls Swift's runtime. If a toolchain changes something that the interposers rely
// on, one of these tests fails.

internal import CSimulation

enum SelfTest {
  /// The number of seeds that each test runs.
  private static let seeds = 1...200 as ClosedRange<UInt64>

  /// - Returns: Whether every test passed.
  static func run() throws -> Bool {
    var isGood = true
    func check(_ name: String, _ passes: Bool, _ detail: String) {
      print("\(passes ? "ok    " : "FAILED") \(name): \(detail)")
      isGood = isGood && passes
    }
    for policy in SchedulingPolicy.allCases {
      let lost = try seeds.filter { seed in
        try inChild(seed, policy) { await hasLostUpdate() ? "lost" : "kept" } == "lost"
      }
      let share = Double(lost.count) / Double(seeds.count)
      check(
        "a lost update on an actor, \(policy)", share >= 0.95,
        "found in \(lost.count) of \(seeds.count) seeds")
    }
    let escaped = try inChild(1, .random) {
      await escape()
      return "\(simulation_counts().foreign)"
    }
    check("a job from another thread", (Int(escaped) ?? 0) > 0, "\(escaped) foreign jobs")
    let behaved = try inChild(1, .random) {
      _ = await hasLostUpdate()
      return "\(simulation_counts().foreign)"
    }
    check("no job from another thread", behaved == "0", "\(behaved) foreign jobs")
    let times = try inChild(1, .random) { await timeOfSleep() }
    check("an hour of sleep", times == "3600 3600 simulated", times)
    let (first, second) = (try inChild(7, .random, described), try inChild(7, .random, described))
    check("the same seed twice", first == second, "\(first.prefix(60))…")
    let other = try inChild(8, .random, described)
    check("another seed", first != other, "\(other.prefix(60))…")
    let kill = try inChild(3, .random, killed)
    check("a kill", kill == "stopped", kill)
    let freeze = try inChild(3, .random, frozen)
    check("a freeze", freeze == "held, then ran", freeze)
    return isGood
  }

  private static func inChild(
    _ seed: UInt64, _ policy: SchedulingPolicy, _ body: @escaping @Sendable () async -> String
  ) throws -> String {
    let end = try Child.run(timeout: 60) { print(Simulation.run(seed: seed, policy: policy.native, body) ?? "stuck") }
    return end.output.trimmedEnd
  }

  private actor Counter {
    private(set) var value = 0

    /// Has the usual mistake of actors: another call runs between reading and writing.
    func addOne(_ other: Other) async {
      let old = value
      await other.call()
      value = old + 1
    }
  }

  private actor Other {
    private var calls = 0
    func call() { calls += 1 }
  }

  private static func hasLostUpdate() async -> Bool {
    let (counter, other) = (Counter(), Other())
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { for _ in 0..<4 { await counter.addOne(other) } } }
    }
    return await counter.value < 32
  }

  /// Resumes a task from another thread, once the task has suspended.
  private static func escape() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      Simulation.call(in: .world, after: .seconds(1)) {
        simulation_call_on_thread(Unmanaged.passRetained(Box(continuation)).toOpaque()) { context in
          guard let context else { return }
          Unmanaged<Box<CheckedContinuation<Void, Never>>>.fromOpaque(context).takeRetainedValue().value.resume()
        }
      }
    }
  }

  private static func timeOfSleep() async -> String {
    let (start, real) = (ContinuousClock.now, simulation_real_time())
    let begin = Simulation.worldTime
    do { try await Task.sleep(for: .seconds(3_600)) } catch { return "cancelled" }
    let passed = start.duration(to: .now).components.seconds
    let isSimulated = simulation_real_time() - real < 60_000_000_000
    return "\(passed) \((Simulation.worldTime - begin).components.seconds) \(isSimulated ? "simulated" : "real")"
  }

  /// Text that depends on randomness, the order of a dictionary, and the schedule.
  @Sendable private static func described() async -> String {
    let order = Box<[Int]>([])
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<20 { group.addTask { order.value.append(number) } }
    }
    let names = Dictionary(uniqueKeysWithValues: (0..<20).map { ("n\($0)", $0) }).keys.joined()
    return "\(order.value) \(names) \(UInt64.random(in: 0 ... .max)) \(simulation_counts().hash)"
  }

  @Sendable private static func killed() async -> String {
    let (process, count) = (Simulation.ProcessID(number: simulation_new_process()), Box(0))
    Simulation.inside(process) {
      Task {
        defer { count.value = -1_000 }
        while !Task.isCancelled {
          count.value += 1
          try await Task.sleep(for: .seconds(1))
        }
      }
    }
    do { try await Task.sleep(for: .seconds(10)) } catch { return "cancelled" }
    simulation_kill(process.number)
    let before = count.value
    do { try await Task.sleep(for: .seconds(10)) } catch { return "cancelled" }
    return before > 5 && count.value == before ? "stopped" : "\(before), then \(count.value)"
  }

  @Sendable private static func frozen() async -> String {
    let (process, count) = (Simulation.ProcessID(number: simulation_new_process()), Box(0))
    Simulation.inside(process) {
      Task {
        while !Task.isCancelled {
          count.value += 1
          try await Task.sleep(for: .seconds(1))
        }
      }
    }
    do {
      try await Task.sleep(for: .seconds(10))
      simulation_freeze(process.number)
      let before = count.value
      try await Task.sleep(for: .seconds(10))
      let during = count.value
      simulation_thaw(process.number, true)
      try await Task.sleep(for: .seconds(10))
      return during == before && count.value > before + 5 ? "held, then ran" : "\(before), \(during), \(count.value)"
    } catch {
      return "cancelled"
    }
  }
}

/// The rule by which the scheduler chooses among ready jobs.
enum SchedulingPolicy: String, Sendable, CaseIterable {
  case random, priorities
  var native: SimulationPolicy { self == .random ? SIMULATION_RANDOM : SIMULATION_PRIORITIES }
}

extension String {
  var trimmedEnd: String { last == "\n" ? String(dropLast()) : self }
}
