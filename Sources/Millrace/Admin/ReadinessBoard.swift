// Readiness: several checks, each with a time limit, asked at most once at a time and not again while the last answer is
// young. However many probes come, the cluster sees one question.

public import Clocks

/// One question whose answer decides whether the process can do its work.
public struct ReadinessCheck: Sendable {
  /// Shown in the report.
  public var name: String
  /// What an operator does when the check does not answer in time.
  public var remedy: String
  /// Asks. Errors are reported, not fatal.
  public var run: @Sendable () async throws -> CheckOutcome

  /// A check.
  public init(_ name: String, remedy: String, run: @escaping @Sendable () async throws -> CheckOutcome) {
    self.name = name
    self.remedy = remedy
    self.run = run
  }
}

/// Asks the checks of a process and remembers what they found.
public actor ReadinessBoard {
  private let checks: [ReadinessCheck]
  private let clock: MillraceClock
  private let timeout: Duration
  private let maxAge: Duration
  private var last: (report: HealthReport, at: MillraceClock.Instant)?
  private var flight: Task<HealthReport, Never>?
  /// Checks that outlived their time limit and have not ended yet, by name.
  private var overdue: Set<String> = []
  private var isDraining = false

  /// A board of these checks.
  ///
  /// - Parameters:
  ///   - checks: Names must differ.
  ///   - clock: ``MillraceClock/system`` outside of tests: the cluster and whoever probes live in real time.
  ///   - timeout: How long each may take; they run at the same time.
  ///   - maxAge: How long a report is answered again.
  public init(_ checks: [ReadinessCheck], clock: MillraceClock, timeout: Duration, maxAge: Duration) {
    self.checks = checks
    self.clock = clock
    self.timeout = timeout
    self.maxAge = maxAge
  }

  /// From now on every report says that the process is leaving, so that no new work is sent to it.
  public func beginDraining() { isDraining = true }

  /// The present report: a young one again, the one that is being made, or a new one.
  public func report() async -> HealthReport {
    if isDraining {
      return HealthReport([
        .init(name: "draining", outcome: .unhealthy("the process is leaving", remedy: "nothing: it ends by itself"))
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
      })
    last = (report, clock.now)
    flight = nil
    return report
  }

  private func ask(_ check: ReadinessCheck) async -> CheckOutcome {
    let limit = DurationText.text(timeout)
    // A question that never came back is not asked again: hanging calls would pile up, one for each probe.
    guard !overdue.contains(check.name) else {
      return .unhealthy("still no answer to a question asked more than \(limit) ago", remedy: check.remedy)
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
