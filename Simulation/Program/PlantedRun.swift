// Plants faults one by one, and counts the seeds until each is found.

internal import CSimulation

@testable internal import PlantedWorker

struct PlantedRun {
  /// The most seeds for each fault.
  let limit: UInt64
  /// The worker of the product; nil: as each seed draws it.
  let worker: WorkerKind?

  /// - Returns: Whether every fault was found.
  func run(_ faults: [PlantedFault]) throws -> Bool {
    var missed: [PlantedFault] = []
    for fault in faults {
      var runner = SeedRunner()
      (runner.fault, runner.worker) = (fault, worker ?? fault.worker)
      let start = simulation_real_time()
      let name = fault.rawValue + String(repeating: " ", count: max(0, 26 - fault.rawValue.count))
      guard let (seed, problem) = try firstFailure(runner) else {
        missed.append(fault)
        print("\(name) NOT FOUND in \(limit) seeds")
        continue
      }
      let seconds = SeedRunner.decimal(Double(simulation_real_time() - start) / 1e9)
      print("\(name) found after \(seed) seeds in \(seconds) s: \(problem.prefix(90))")
      print("  repeat: \(runner.command(seed))")
    }
    print("\(faults.count - missed.count) of \(faults.count) planted faults were found")
    return missed.isEmpty
  }

  private func firstFailure(_ runner: SeedRunner) throws -> (seed: UInt64, problem: String)? {
    for seed in 1...limit {
      if let problem = try runner.report(seed).problems.first { return (seed, problem) }
    }
    return nil
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
