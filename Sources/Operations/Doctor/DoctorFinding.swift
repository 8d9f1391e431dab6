// The findings of `millrace doctor`, for people and scripts. Pure.

internal import AppStore
internal import Synchronization

/// The result of one check.
package struct DoctorFinding: Sendable, Hashable {
  /// The checks, in the order in which they run.
  package enum Check: String, Sendable, Hashable, CaseIterable {
    /// The configuration and the topic files can be read, and their values suit production.
    case configuration
    /// The files that the configuration names are readable and valid.
    case files
    /// No certificate expires soon.
    case certificates
    /// The brokers answer.
    case cluster
    /// The topics match their files.
    case topics
    /// Every replica exists and is in sync.
    case replicas
    /// The topics are as durable as their files require.
    case durability
    /// No transaction blocks the readers of a topic.
    case transactions
    /// A record that was written can be read.
    case probe
    /// Every configured worker has a process.
    case workers
    /// Nothing that `millrace status` shows needs attention.
    case conditions
    /// The HTTP servers that workers need answer.
    case endpoints
    /// The database answers.
    case postgres
    /// Apple accepts the key of each app.
    case apple
    /// Apple's test notification arrives in Kafka.
    case testNotification = "test-notification"
  }

  /// The severity of a finding.
  package enum Severity: String, Sendable, Hashable, CaseIterable, Comparable {
    /// No problem.
    case good
    /// The check did not run.
    case skipped
    /// It works, but the operator should know about this.
    case warning
    /// It does not work.
    case failure
    /// It cannot work until the operator corrects the configuration.
    case configuration

    /// Orders by increasing severity.
    package static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
  }

  /// The check.
  package var check: Check
  /// The app and environment, the topic or the file that was checked; nil for the deployment as a whole.
  package var subject: String?
  /// The severity.
  package var severity: Severity
  /// The finding, in one clause without secrets.
  package var what: String
  /// The action to take; nil if none is needed.
  package var remedy: String?
  /// The duration of the check, if it is meaningful.
  package var time: Duration?

  /// Creates a finding.
  package init(
    _ check: Check, _ severity: Severity, _ what: String, of subject: String? = nil, remedy: String? = nil,
    time: Duration? = nil
  ) {
    self.check = check
    self.severity = severity
    self.what = what
    self.subject = subject
    self.remedy = remedy
    self.time = time
  }

  /// Creates a finding from an error.
  package init(_ check: Check, _ error: any Error, of subject: String? = nil) {
    let report = FailureReport(error)
    let line = report.lines.first ?? "\(error)"
    // Error descriptions have the form `what; remedy`.
    let parts = line.split(separator: ";", maxSplits: 1).map { $0.trimmingPrefix(while: { $0 == " " }) }
    self.init(
      check, report.status == .configuration ? .configuration : .failure, parts.first.map(String.init) ?? line,
      of: subject, remedy: parts.count > 1 ? String(parts[1]) : "check the log of the brokers, then run it again")
  }

  /// The finding as one line of JSON, without a line feed.
  package var jsonLine: String {
    var json: JSONObject = ["check": .string(check.rawValue), "result": .string(severity.rawValue)]
    json["of"] = subject.map { .string($0) }
    json["detail"] = .string(what)
    json["do"] = remedy.map { .string($0) }
    json["milliseconds"] = time.map { .integer(Int64($0 / .milliseconds(1))) }
    return String(decoding: json.serialized(), as: UTF8.self)
  }

  /// The columns of ``row``.
  package static let columns = [
    TextColumn("CHECK", minimumWidth: 17), TextColumn("RESULT", minimumWidth: 13), TextColumn("OF"), TextColumn("WHAT"),
  ]

  /// The cells of one table row; the advice follows on its own line, see ``advice(usesColor:)``.
  package var row: [TextCell] {
    let style: TextStyle =
      switch severity {
      case .good: .green
      case .skipped: .dim
      case .warning: .yellow
      case .failure, .configuration: .red
      }
    return [
      TextCell(check.rawValue), TextCell(severity.rawValue, style), TextCell(optional: subject, .cyan), TextCell(what),
    ]
  }

  /// The action to take, as a line below the row.
  package func advice(usesColor: Bool) -> String? {
    remedy.map { TextStyle.bold.applied(to: "    → \(TerminalText.safe($0))", usesColor: usesColor) }
  }
}

/// The overall result.
package struct DoctorSummary: Sendable, Hashable {
  /// All findings.
  package var findings: [DoctorFinding]

  /// Summarizes findings.
  package init(_ findings: [DoctorFinding]) { self.findings = findings }

  /// The exit status, by the worst finding. A warning is not a failure.
  package var status: CommandStatus {
    switch findings.map(\.severity).max() {
    case .configuration?: .configuration
    case .failure?: .failure
    case .warning?, .skipped?, .good?, nil: .success
    }
  }

  /// The summary as one sentence.
  package var sentence: String {
    func count(_ severities: DoctorFinding.Severity...) -> Int { findings.count { severities.contains($0.severity) } }
    let (bad, warnings, skipped) = (count(.failure, .configuration), count(.warning), count(.skipped))
    let head = bad == 0 ? "No problems found" : HumanText.count(bad, "problem") + " found"
    let tail = [
      warnings > 0 ? HumanText.count(warnings, "warning") : nil, skipped > 0 ? "\(skipped) skipped" : nil,
    ].compactMap(\.self)
    return ([head] + tail).joined(separator: ", ") + "."
  }
}

/// Prints findings as they arrive, as rows or as JSON lines.
package final class DoctorPrinter: Sendable {
  private let out: Output
  private let asJSON: Bool
  private let table: Mutex<StreamingTable>
  private let hasHeader = Mutex(false)

  /// Creates a printer.
  package init(_ out: Output, asJSON: Bool) {
    self.out = out
    self.asJSON = asJSON
    table = Mutex(StreamingTable(DoctorFinding.columns, lineWidth: out.width, usesColor: out.usesColor))
  }

  /// Prints one finding.
  /// - Throws: ``OperationError`` of kind `outputClosed` if the reader closed the output.
  package func print(_ finding: DoctorFinding) throws {
    if asJSON { return try out.line(finding.jsonLine) }
    let isFirst = hasHeader.withLock { hasHeader in
      defer { hasHeader = true }
      return !hasHeader
    }
    let lines = table.withLock { table in (isFirst ? table.header() : []) + table.lines(finding.row) }
    try out.lines(lines + [finding.advice(usesColor: out.usesColor)].compactMap(\.self))
  }
}
