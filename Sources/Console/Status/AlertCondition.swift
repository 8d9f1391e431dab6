// The conditions of a deployment that an operator has to know about. `millrace status`, `millrace doctor`, the console and
// alerts show the same ones. Pure.

internal import AppStore
package import MillraceCore
internal import MillraceRecords
internal import MillraceTime
internal import Operations

/// A condition that holds at present.
package struct AlertCondition: Sendable, Hashable {
  /// The kinds, the first cause first: a worker that does not run is behind, too.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// No process of a worker runs.
    case workerNotRunning = "worker-not-running"
    /// `millrace-postgres` does not run, or its database does not answer.
    case postgres
    /// A certificate expires soon.
    case certificate
    /// The endpoint or the receiver of a worker fails, and its records wait.
    case circuitOpen = "circuit-open"
    /// The ingress refused bodies that may be genuine.
    case quarantine
    /// A worker gave up records.
    case deadLetters = "dead-letters"
    /// Timers of a worker fail.
    case timersFailing = "timers-failing"
    /// A consumption request has to be answered soon.
    case deadline
    /// A worker is behind.
    case lag

    /// The heading of the runbook.
    var anchor: String {
      switch self {
      case .workerNotRunning: "millraceworkergone"
      case .postgres: "millracepostgresbehind"
      case .certificate: "millracecertificateends"
      case .circuitOpen: "millraceendpointfails"
      case .quarantine: "millraceunverifiablechain"
      case .deadLetters: "millracedeadletters"
      case .timersFailing: "millracetimersfailing"
      case .deadline: "millraceconsumptionatrisk"
      case .lag: "millracelag"
      }
    }
  }

  /// The kind.
  package var kind: Kind
  /// The worker, the file, or the reason.
  package var subject: String
  /// The fault, in one clause.
  package var what: String
  /// The action to take.
  package var remedy: String

  /// A name that stays the same while the condition holds.
  package var id: String { "\(kind.rawValue)/\(subject)" }

  /// The members of its JSON objects.
  var json: JSONObject {
    [
      "condition": .string(kind.rawValue), "of": .string(subject), "detail": .string(what), "do": .string(remedy),
    ]
  }

  /// One line for people.
  package var line: String { "\(kind.rawValue): \(subject): \(what)" }
}

extension DeploymentStatus {
  /// Returns the conditions that hold, the first cause first.
  package func conditions(_ settings: AlertSettings) -> [AlertCondition] {
    (workers.flatMap { conditions(of: $0, settings) } + postgresConditions + certificateConditions
      + quarantineConditions + deadlineConditions(settings))
      .sorted { ($0.kind.rank, $0.subject) < ($1.kind.rank, $1.subject) }
  }

  private func conditions(of worker: Worker, _ settings: AlertSettings) -> [AlertCondition] {
    let name = worker.lag.worker
    var conditions: [AlertCondition] = []
    func add(_ kind: AlertCondition.Kind, _ subject: String, _ what: String, _ remedy: String) {
      conditions.append(AlertCondition(kind: kind, subject: subject, what: what, remedy: remedy))
    }
    if worker.processes?.isEmpty == true {
      add(
        .workerNotRunning, name, "no process of the worker runs",
        "start it, and read the last line of its log; remove its entry under workers if it is not needed")
    }
    if let circuit = worker.circuit {
      let cause = circuit.cause.map { ": \($0)" } ?? ""
      add(
        .circuitOpen, name,
        circuit.isMisconfigured
          ? "the endpoint answers as if it were misconfigured\(cause); records wait"
          : "the endpoint fails\(cause); records wait",
        circuit.isMisconfigured
          ? "check its URL and secret, and the endpoint's log" : "check that the endpoint runs and can be reached")
    }
    for (reason, groups) in Dictionary(grouping: worker.dead, by: \.key.reason) {
      guard let newest = groups.map(\.newest).max(), wallTime - newest < .seconds(60 * Self.recently) else { continue }
      let open = groups.reduce(0) { $0 + $1.open }
      add(
        .deadLetters, "\(name)/\(reason)", "\(HumanText.count(open, "open dead letter")): \(reason)",
        reason == "unverified"
          ? "check trust.roots, apps and their environments of this worker; then requeue"
          : "millrace dead-letters list --worker \(name) --reason \(reason) --open --each")
    }
    if worker.failingTimers > 0 {
      add(
        .timersFailing, name, "\(HumanText.count(worker.failingTimers, "timer")) failed and will fire again",
        "the worker's log has lines `a timer failed` with the reason")
    }
    if let oldest = worker.lag.oldest, at - oldest > settings.lag {
      // The age is not in the text, so that it is the same for as long as the condition holds.
      add(
        .lag, name, "its oldest unfinished record is from \(oldest.rfc3339)",
        "millrace status shows its lanes; the runbook has the causes")
    }
    return conditions
  }

  private var postgresConditions: [AlertCondition] {
    guard let postgres else { return [] }
    let what = postgres.processes == 0 ? "millrace-postgres does not run" : postgres.problem
    return what.map {
      [
        AlertCondition(
          kind: .postgres, subject: "postgres", what: $0, remedy: "see what millrace postgres status prints")
      ]
    } ?? []
  }

  private var certificateConditions: [AlertCondition] {
    certificates.map { certificate in
      AlertCondition(
        kind: .certificate, subject: certificate.key,
        what: "\(certificate.path) \(certificate.end <= at ? "expired" : "expires") at \(certificate.end.rfc3339)",
        remedy: ExpiringCertificate.remedy)
    }
  }

  private var quarantineConditions: [AlertCondition] {
    (quarantine?.recent ?? [:]).map { reason, count in
      AlertCondition(
        kind: .quarantine, subject: reason,
        what: "the ingress refused bodies that may be genuine (\(reason)), \(count) in \(Self.recently) minutes",
        remedy: "millrace quarantine list")
    }
  }

  private func deadlineConditions(_ settings: AlertSettings) -> [AlertCondition] {
    guard let deadlines, let first = deadlines.next.first, first.due - wallTime < settings.deadline else { return [] }
    return [
      AlertCondition(
        kind: .deadline, subject: "consumption",
        what: "\(HumanText.count(deadlines.open, "consumption request")) without an answer, the first due at "
          + first.due.rfc3339,
        remedy: "millrace status, and the provider's log")
    ]
  }
}

extension AlertCondition.Kind {
  var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
