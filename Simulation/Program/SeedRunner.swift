// Runs seeds one after the other, each in a child, and reports failures with the command that repeats them.

internal import CSimulation

@testable internal import PlantedWorker

struct SeedRunner {
  /// The numbers of the steps to keep; nil: all.
  var kept: Set<Int>?
  /// The worker of the product; nil: as each seed draws it.
  var worker: WorkerKind?
  /// The planted fault.
  var fault: PlantedFault?
  /// The seconds of processor time for one seed.
  private static let timeout: UInt32 = 300

  /// The command that repeats a seed.
  func command(_ seed: UInt64) -> String {
    let steps = kept.map { " --keep \($0.isEmpty ? "none" : $0.sorted().map(String.init).joined(separator: ","))" }
    let worker = worker.map { " --worker \($0.rawValue)" } ?? ""
    return "scripts/simulate --seed \(seed)\(worker)\(steps ?? "")\(fault.map { " --planted \($0.rawValue)" } ?? "")"
  }

  func plan(_ seed: UInt64) -> Plan { Plan(seed: seed, worker: worker, keeping: kept) }

  /// The report of a child.
  struct Report {
    var hash = ""
    var simulated = 0.0
    var recovery = ""
    var counts = ""
    var problems: [String] = []
    var lines: [String] = []
    /// The planted faults that had something to change.
    var reached: Set<String> = []
    var isFailure: Bool { !problems.isEmpty }
  }

  func report(_ seed: UInt64, trace: Bool = false) throws -> Report {
    let plan = plan(seed)
    if plan.worker != nil { _ = AppleModel.chain }
    let end = try Child.run(timeout: Self.timeout) {
      PlantedFault.active = fault
      let result = FleetRun.run(plan, isTraced: trace)
      for line in result.lines { print("line \(line)") }
      for problem in result.problems { print("problem \(problem)") }
      print("hash \(String(result.hash, radix: 16))")
      print("simulated \(result.simulated / .seconds(1))")
      print("recovery \(result.recovery.map { "\($0)" } ?? "none")")
      print("counts \(result.counts)")
      print("reached \(PlantedFault.reached.map(\.rawValue).sorted().joined(separator: ","))")
    }
    var report = Report()
    for line in end.output.split(separator: "\n") {
      let (word, rest) = (line.prefix { $0 != " " }, String(line.drop { $0 != " " }.dropFirst()))
      switch word {
      case "line": report.lines.append(rest)
      case "problem": report.problems.append(rest)
      case "hash": report.hash = rest
      case "simulated": report.simulated = Double(rest) ?? 0
      case "recovery": report.recovery = rest
      case "counts": report.counts = rest
      case "reached": report.reached = Set(rest.split(separator: ",").map(String.init))
      default: break
      }
    }
    if let failure = end.failure { report.problems.append(failure) }
    return report
  }

  /// - Returns: Whether no seed failed.
  func run(_ seeds: ClosedRange<UInt64>, twice: Bool) throws -> Bool {
    let start = simulation_real_time()
    var (failed, differing, hashes, simulated) = ([UInt64](), [UInt64](), Set<String>(), 0.0)
    for seed in seeds {
      let report = try report(seed)
      hashes.insert(report.hash)
      simulated += report.simulated
      if report.isFailure {
        failed.append(seed)
        print("seed \(seed) failed: \(plan(seed))")
        for problem in report.problems { print("  \(problem)") }
        print("  repeat: \(command(seed)) --trace")
      }
      if twice, try self.report(seed).hash != report.hash {
        differing.append(seed)
        print("seed \(seed) differs in a second process")
      }
    }
    let seconds = Double(simulation_real_time() - start) / 1e9
    let count = seeds.count
    print(
      "\(count) seeds, \(failed.count) failed\(twice ? ", \(differing.count) differ in a second process" : ""), "
        + "\(hashes.count) different hashes, \(Self.decimal(simulated / 3_600)) simulated hours in \(Self.decimal(seconds)) s"
    )
    return failed.isEmpty && differing.isEmpty
  }

  /// Prints one seed.
  func show(_ seed: UInt64, trace: Bool, about: String?, twice: Bool) throws -> Bool {
    let plan = plan(seed)
    print("seed \(seed): \(plan)")
    for (number, step) in plan.steps.enumerated() { print("  step \(number) \(step)") }
    let report = try report(seed, trace: trace)
    for line in report.lines where about.map({ line.contains($0) }) ?? true { print(line) }
    for problem in report.problems { print("PROBLEM \(problem)") }
    print(
      "\(report.isFailure ? "failed" : "passed"): hash \(report.hash), \(Self.decimal(report.simulated)) simulated seconds, "
        + "recovered in \(report.recovery), \(report.counts)")
    guard twice else { return !report.isFailure }
    let second = try self.report(seed)
    print(
      second.hash == report.hash
        ? "the same hash in a second process" : "another hash in a second process: \(second.hash)")
    return !report.isFailure && second.hash == report.hash
  }

  static func decimal(_ value: Double) -> String {
    let tenths = Int((value * 100).rounded())
    return "\(tenths / 100).\(tenths % 100 < 10 ? "0" : "")\(tenths % 100)"
  }
}
