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
    /// Kafka does not answer the console. Only alerts have it: nothing else is known then.
    case kafka
    /// The clock of a process is wrong.
    case clock
    /// No process of a worker runs.
    case workerNotRunning = "worker-not-running"
    /// Processes of a worker end and begin again.
    case workerRestarts = "worker-restarts"
    /// `millrace-postgres` does not run, or its database does not answer.
    case postgres
    /// A certificate expires soon.
    case certificate
    /// Apple refuses the tokens of an app.
    case apple
    /// The endpoint or the receiver of a worker fails, and its records wait.
    case circuitOpen = "circuit-open"
    /// The ingress refused bodies that may be genuine.
    case quarantine
    /// Apple posts a notification type that this version does not know.
    case unknownType = "unknown-type"
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
      case .kafka: "a-process-cannot-connect-to-kafka"
      case .clock: "a-wrong-clock"
      case .workerNotRunning: "millraceworkergone"
      case .workerRestarts: "a-worker-restarts-again-and-again"
      case .postgres: "millracepostgresbehind"
      case .certificate: "millracecertificateends"
      case .apple: "apple-refuses-the-tokens"
      case .circuitOpen: "millraceendpointfails"
      case .quarantine: "millraceunverifiablechain"
      case .unknownType: "an-unknown-notification-type"
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
  /// The number of things that are wrong; nil if the condition does not count them. More of them are an alert again.
  package var count: Int?

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
    (workers.flatMap { conditions(of: $0, settings) } + clockConditions + postgresConditions + certificateConditions
      + appleConditions + quarantineConditions + unknownTypeConditions + deadlineConditions(settings))
      .sorted { ($0.kind.rank, $0.subject) < ($1.kind.rank, $1.subject) }
  }

  private func conditions(of worker: Worker, _ settings: AlertSettings) -> [AlertCondition] {
    let name = worker.lag.worker
    var conditions: [AlertCondition] = []
    func add(_ kind: AlertCondition.Kind, _ subject: String, _ what: String, _ remedy: String, count: Int? = nil) {
      conditions.append(AlertCondition(kind: kind, subject: subject, what: what, remedy: remedy, count: count))
    }
    if worker.processes?.isEmpty == true {
      add(
        .workerNotRunning, name, "no process of the worker runs",
        "start it, and read the last line of its log; remove its entry under workers if it is not needed")
    }
    let restarted = worker.restarts.filter { $0.value >= Self.manyRestarts }
    if !restarted.isEmpty {
      let minutes = ProcessTable.restartWindow.components.seconds / 60
      let names = restarted.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(3).map {
        "\($0.key) \($0.value) times"
      }
      add(
        .workerRestarts, name,
        "began again without an orderly end in \(minutes) minutes: \(names.joined(separator: ", "))",
        "read the last lines of the log before each start, and the exit status")
    }
    if let circuit = worker.circuit {
      let cause = circuit.cause.map { ": \($0)" } ?? ""
      add(
        .circuitOpen, name,
        circuit.isMisconfigured
          ? "the endpoint answers as if it were misconfigured\(cause); records wait"
          : "the endpoint fails\(cause); records wait",
        circuit.isMisconfigured
          ? "check its URL and secret, and the endpoint's log"
          : circuit.cause?.hasPrefix("answered") == true
            ? "read the endpoint's log: it runs, and answers with an error"
            : "check that the endpoint runs and can be reached")
    }
    for (reason, groups) in Dictionary(grouping: worker.dead, by: \.key.reason) {
      let open = groups.reduce(0) { $0 + $1.open }
      guard open > 0 else { continue }
      add(
        .deadLetters, "\(name)/\(reason)", "\(HumanText.count(open, "open dead letter")): \(reason)",
        reason == "unverified"
          ? "check trust.roots, apps and their environments in the configuration of this worker's process; then requeue"
          : "millrace dead-letters list --worker \(name) --reason \(reason) --open --each",
        count: open)
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

  /// The restarts of one process from which on they are a condition.
  private static let manyRestarts = 3

  private var clockConditions: [AlertCondition] {
    clockErrors.map { process, error in
      // Reports differ by seconds, and the text stays the same.
      let minutes = (abs(error.components.seconds) + 150) / 300 * 5
      let span = DurationText.text(.seconds(minutes * 60))
      return AlertCondition(
        kind: .clock, subject: process,
        what: error < .zero
          ? "its clock is about \(span) behind the clocks of other processes"
          : "its clock is about \(span) ahead of this machine's",
        remedy: "correct the clock of its machine (NTP), and restart it")
    }
  }

  private var appleConditions: [AlertCondition] {
    let refused = workers.flatMap { worker in
      worker.budgets.filter(\.isRefused).map { (app: "\($0.bundleId)/\($0.environment)", worker: worker.lag.worker) }
    }
    return Dictionary(grouping: refused, by: \.app).map { app, workers in
      AlertCondition(
        kind: .apple, subject: app,
        what: "Apple answers 401 to the calls of \(Set(workers.map(\.worker)).sorted().joined(separator: ", "))",
        remedy: "check issuerId, keyId and the key in App Store Connect, and the clock; millrace doctor tries the key")
    }
  }

  private var unknownTypeConditions: [AlertCondition] {
    unknownTypes.map { type, count in
      AlertCondition(
        kind: .unknownType, subject: type,
        what: "\(HumanText.count(count, "notification")) of a type that this version does not know in "
          + "\(Self.recently) minutes; no worker reads them",
        remedy: "update Millrace, or name the type in a topic file; then replay appstore.notifications.unrecognized")
    }
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

extension AlertCondition {
  /// Kafka does not answer the console.
  /// - Parameter last: When it answered last.
  static func noKafka(since last: Timestamp) -> AlertCondition {
    AlertCondition(
      kind: .kafka, subject: "cluster", what: "Kafka does not answer; its last answer is from \(last.rfc3339)",
      remedy: "start its brokers, or correct the network; millrace doctor names the step that fails")
  }
}

extension AlertCondition.Kind {
  var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
