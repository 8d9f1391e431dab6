// Plays the schedules and compares their reports with the outcomes that they name.

internal import Glibc

struct ScheduleRun {
  /// Plays only schedules whose names contain this text.
  var only: String?

  /// The seeds with which the models play each schedule. The outcome does not depend on them.
  private static let seeds = 1...10 as ClosedRange<UInt64>

  private var schedules: [Schedule] {
    Schedule.all.filter { schedule in only.map { schedule.name.contains($0) } ?? true }
  }

  /// - Returns: Whether every schedule ended as it says.
  func playOnModels() throws -> Bool {
    var differing = 0
    for schedule in schedules {
      for seed in Self.seeds {
        let end = try Child.run(timeout: 60) {
          for line in SimulatedKafka.report(of: schedule, seed: seed) { print(line) }
        }
        var report = end.output.split(separator: "\n").map(String.init)
        if let failure = end.failure { report.append(failure) }
        guard !isAsExpected(report, schedule, "with seed \(seed)") else { continue }
        differing += 1
        break
      }
    }
    print("\(schedules.count) schedules on the models, \(differing) differ")
    return differing == 0 && !schedules.isEmpty
  }

  /// - Parameter servers: The addresses of the nodes behind the proxy.
  func play(on servers: String) async throws -> Bool {
    var differing = 0
    for (number, schedule) in schedules.enumerated() {
      await RealKafka.ask("schedule \(schedule.hold?.words ?? "none") \(schedule.name)")
      let kafka = try await RealKafka(servers: servers)
      let report = await Stage.report(of: schedule, on: kafka, prefix: "models-\(getpid())-\(number)")
      if !isAsExpected(report, schedule, "on Kafka") { differing += 1 }
    }
    print("\(schedules.count) schedules on Kafka, \(differing) differ")
    return differing == 0 && !schedules.isEmpty
  }

  private func isAsExpected(_ report: [String], _ schedule: Schedule, _ place: String) -> Bool {
    guard report != schedule.outcome else { return true }
    print("DIFFERS \(place): \(schedule.name)")
    for line in schedule.outcome { print("  expected  \(line)") }
    for line in report { print("  reported  \(line)") }
    return false
  }
}

extension Schedule.Hold {
  /// The options of kafka-delay.
  fileprivate var words: String {
    switch release {
    case .afterAnswers(let count): "\(kind.rawValue) steps:\(count)-\(count)"
    case .atOnce: "\(kind.rawValue) ms:0-0"
    }
  }
}
