// Plants faults one by one, and counts the seeds until each is found.

internal import CSimulation

@testable internal import PlantedWorker

struct PlantedRun {
  let seeds: ClosedRange<UInt64>
  /// The worker of the product; nil: as each seed draws it.
  let worker: WorkerKind?
  /// The faults that the run of a seed reaches without a fault.
  private var reached: [UInt64: Set<String>] = [:]

  init(seeds: ClosedRange<UInt64>, worker: WorkerKind?) { (self.seeds, self.worker) = (seeds, worker) }

  /// - Returns: Whether every fault was found.
  mutating func run(_ faults: [PlantedFault]) throws -> Bool {
    var missed: [PlantedFault] = []
    for fault in faults {
      let start = simulation_real_time()
      let name = fault.rawValue + String(repeating: " ", count: max(0, 26 - fault.rawValue.count))
      var runner = SeedRunner()
      (runner.fault, runner.worker) = (fault, worker ?? fault.worker)
      let (failure, count) = try firstFailure(runner, fault)
      let seconds = SeedRunner.decimal(Double(simulation_real_time() - start) / 1e9)
      guard let failure else {
        missed.append(fault)
        print("\(name) NOT FOUND in \(seeds.count) seeds; \(count) reach it; \(seconds) s")
        continue
      }
      let number = failure.seed - seeds.lowerBound + 1
      print(
        "\(name) found after \(number) seeds, where \(count) reach it, in \(seconds) s: \(failure.problem.prefix(90))"
      )
      print("  repeat: \(runner.command(failure.seed))")
    }
    print("\(faults.count - missed.count) of \(faults.count) planted faults were found")
    return missed.isEmpty
  }

  /// Returns the first seed that fails, and how many seeds were run with the fault. A seed that does not reach the fault
  /// is not run with it, because its run would be the same.
  private mutating func firstFailure(
    _ runner: SeedRunner, _ fault: PlantedFault
  ) throws -> (failure: (seed: UInt64, problem: String)?, count: Int) {
    var count = 0
    for seed in seeds {
      if runner.worker == worker, try !reaches(seed, fault) { continue }
      count += 1
      if let problem = try runner.report(seed).problems.first { return ((seed, problem), count) }
    }
    return (nil, count)
  }

  private mutating func reaches(_ seed: UInt64, _ fault: PlantedFault) throws -> Bool {
    if reached[seed] == nil {
      var runner = SeedRunner()
      runner.worker = worker
      let report = try runner.report(seed)
      reached[seed] = report.isFailure ? Set(PlantedFault.allCases.map(\.rawValue)) : report.reached
    }
    return reached[seed]?.contains(fault.rawValue) ?? true
  }
}

extension PlantedFault {
  /// The worker of the product that has the defect; nil: the runtime of every worker.
  fileprivate var worker: WorkerKind? {
    switch self {
    case .blindExtension: .renewalExtensions
    case .lateAnswerUnannounced: .consumption
    default: nil
    }
  }
}
