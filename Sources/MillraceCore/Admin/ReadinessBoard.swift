// Readiness: several checks, each with a time limit. Concurrent probes share one run of the checks and reuse a recent
// result, so the number of probes does not affect the load on the cluster.

package import MillraceTime

/// One condition of the process's readiness.
package struct ReadinessCheck: Sendable {
  /// The check's name in the report.
  package var name: String
  /// The action for the operator if the check does not finish in time.
  package var remedy: String
  /// Runs the check. A thrown error is reported as a failed check.
  package var run: @Sendable () async throws -> CheckOutcome

  /// Creates a check.
  package init(_ name: String, remedy: String, run: @escaping @Sendable () async throws -> CheckOutcome) {
    self.name = name
    self.remedy = remedy
    self.run = run
  }
}

/// Runs the readiness checks of a process and keeps the last result.
package actor ReadinessBoard {
  private let checks: [ReadinessCheck]
  private let clock: MillraceClock
  private let timeout: Duration
  private let maxAge: Duration
  private let throttles: ThrottleStatus
  private var last: (report: HealthReport, at: MillraceClock.Instant)?
  private var flight: Task<HealthReport, Never>?
  /// The names of checks that are running, including those that exceeded their time limit.
  private var overdue: Set<String> = []
  private var isDraining = false

  /// Creates a board.
  ///
  /// - Parameters:
  ///   - checks: The checks; their names must differ.
  ///   - clock: ``MillraceClock/system`` outside tests: the cluster and the probes use real time.
  ///   - timeout: The time limit for each check. The checks run concurrently.
  ///   - maxAge: How long a report is reused.
  ///   - throttles: The delays by quotas of the cluster, which the report mentions.
  package init(
    _ checks: [ReadinessCheck], clock: MillraceClock, timeout: Duration, maxAge: Duration,
    throttles: ThrottleStatus = .process
  ) {
    self.checks = checks
    self.clock = clock
    self.timeout = timeout
    self.maxAge = maxAge
    self.throttles = throttles
  }

  /// Reports the process as not ready from now on, so that it receives no new work.
  package func beginDraining() { isDraining = true }

  /// Returns the last report if it is recent, otherwise the result of the current or a new run.
  package func report() async -> HealthReport {
    if isDraining {
      return HealthReport([
        .init(name: "draining", outcome: .unhealthy("the process is shutting down", remedy: "no action is needed"))
      ])
    }
    if let last, last.at.duration(to: clock.now) < maxAge { return last.report }
    if let flight { return await flight.value }
    let flight = Task { await ask() }
    self.flight = flight
    let report = await flight.value
    return report
  }

  private func ask() async -> HealthReport {
    let outcomes = await withTaskGroup(of: (Int, CheckOutcome).self) { group in
      for (index, check) in checks.enumerated() {
        group.addTask { (index, await self.ask(check)) }
      }
      var outcomes: [Int: CheckOutcome] = [:]
      for await (index, outcome) in group { outcomes[index] = outcome }
      return outcomes
    }
    let report = HealthReport(
      checks.enumerated().compactMap { index, check in
        outcomes[index].map { HealthReport.Entry(name: check.name, outcome: $0) }
      } + [throttles.entry(at: .now)].compactMap(\.self))
    last = (report, clock.now)
    flight = nil
    return report
  }

  private func ask(_ check: ReadinessCheck) async -> CheckOutcome {
    let limit = DurationText.text(timeout)
    // A check that has not returned is not started again: hanging calls would pile up, one per probe.
    guard !overdue.contains(check.name) else {
      return .unhealthy("still no answer after more than \(limit)", remedy: check.remedy)
    }
    overdue.insert(check.name)
    do {
      let outcome = try await clock.result(within: timeout) {
        let outcome: Result<CheckOutcome, any Error>
        do { outcome = .success(try await check.run()) } catch { outcome = .failure(error) }
        await self.answered(check.name)
        return try outcome.get()
      }
      return outcome ?? .unhealthy("no answer within \(limit)", remedy: check.remedy)
    } catch {
      return .unhealthy("\(error)", remedy: check.remedy)
    }
  }

  private func answered(_ name: String) { overdue.remove(name) }
}
