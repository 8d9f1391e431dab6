// Parses the arguments of `scripts/simulate`, and runs seeds in children.

internal import ArgumentParser
internal import Dispatch

@testable internal import PlantedWorker

@main
struct MillraceSimulate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scripts/simulate", abstract: "Runs the worker in one deterministic process, under seeds.")

  @Option(help: "Run these seeds, such as 1-200. With --planted: look for the fault in these seeds; by default 1-1000.")
  var seeds: SeedRange?

  @Option(help: "Run one seed and print its plan.")
  var seed: UInt64?

  @Option(help: "Run this worker of the product under every seed: \(WorkerKind.names).")
  var worker: WorkerKind?

  @Flag(help: "Run each seed in two processes and compare their hashes.")
  var twice = false

  @Flag(help: "With --seed: print the timeline of the run.")
  var trace = false

  @Option(
    help: "With --trace: print only lines that contain this text, such as a notification, a lane or a transaction.")
  var about: String?

  @Option(help: "With --seed: keep only these steps of the plan, such as 0,3; `none` keeps no step.")
  var keep: String?

  @Flag(help: "With --seed: find the fewest steps that still fail.")
  var shrink = false

  @Option(
    help: "Plant faults, such as end-first,copies-again or `all`, one by one, and count the seeds until each is found.")
  var planted: String?

  @Flag(help: "Play the schedules on the models, or on a real Kafka.")
  var schedules = false

  @Option(help: "With --schedules: play only those whose names contain this text.")
  var only: String?

  @Option(help: "With --schedules: the addresses of a real Kafka; scripts/check models sets it.")
  var kafka: String?

  @Flag(help: "Run the suite that every log has to pass on the models.")
  var conformance = false

  @Flag(help: "Check that the scheduler controls Swift's runtime.")
  var selfTest = false

  func run() throws {
    if selfTest {
      guard try SelfTest.run() else { throw ExitCode.failure }
      return
    }
    if conformance {
      guard try Conformance.run() else { throw ExitCode.failure }
      return
    }
    if schedules {
      guard try playSchedules() else { throw ExitCode.failure }
      return
    }
    if let planted, seed == nil {
      let faults =
        planted == "all" ? PlantedFault.allCases : try planted.split(separator: ",").map { try fault(String($0)) }
      var run = PlantedRun(seeds: seeds?.range ?? 1...1_000, worker: worker)
      guard try run.run(faults) else { throw ExitCode.failure }
      return
    }
    var runner = SeedRunner()
    runner.worker = worker
    runner.fault = try planted.map { try fault($0) }
    if let keep { runner.kept = Set(keep.split(separator: ",").compactMap { Int($0) }) }
    if let seed {
      if shrink { runner.kept = try Shrinker(runner, seed).shrink() }
      guard try runner.show(seed, trace: trace, about: about, twice: twice) else { throw ExitCode.failure }
      return
    }
    guard let seeds else { throw ValidationError("give --seeds A-B, --seed N, --planted NAME or --self-test") }
    guard try runner.run(seeds.range, twice: twice) else { throw ExitCode.failure }
  }

  private func playSchedules() throws -> Bool {
    let run = ScheduleRun(only: only)
    guard let kafka else { return try run.playOnModels() }
    let (result, isOver) = (Box<Result<Bool, any Error>>(.success(false)), DispatchSemaphore(value: 0))
    Task {
      do { result.value = .success(try await run.play(on: kafka)) } catch { result.value = .failure(error) }
      isOver.signal()
    }
    isOver.wait()
    return try result.value.get()
  }

  private func fault(_ name: String) throws -> PlantedFault {
    guard let fault = PlantedFault(rawValue: name) else {
      let names = PlantedFault.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("no planted fault \(name); the names are \(names)")
    }
    return fault
  }
}

/// The argument `A-B`.
struct SeedRange: ExpressibleByArgument {
  var range: ClosedRange<UInt64>

  init?(argument: String) {
    let ends = argument.split(separator: "-").compactMap { UInt64($0) }
    guard let first = ends.first, let last = ends.last, ends.count <= 2, first <= last else { return nil }
    range = first...last
  }
}

extension WorkerKind: ExpressibleByArgument {
  static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
