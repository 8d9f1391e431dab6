// What `millrace doctor` found, for people and scripts. Pure.

internal import AppStore
internal import Synchronization

/// One thing that was looked at.
public struct DoctorFinding: Sendable, Hashable {
  /// What is looked at, in the order in which it is.
  public enum Check: String, Sendable, Hashable, CaseIterable {
    /// The configuration and the topic files can be read, and say what a production should.
    case configuration
    /// The files that the configuration names can be read and are what they should be.
    case files
    /// The brokers answer.
    case cluster
    /// The cluster has the topics as their files say.
    case topics
    /// The topics are as strong as they promise.
    case durability
    /// What is written can be read.
    case probe
    /// Apple answers with the key of each app.
    case apple
    /// A test notification of Apple's arrives in Kafka.
    case testNotification = "test-notification"
  }

  /// How bad it is.
  public enum Severity: String, Sendable, Hashable, CaseIterable, Comparable {
    /// As it should be.
    case good
    /// Not looked at.
    case skipped
    /// It works, and somebody should know this.
    case warning
    /// It does not work.
    case failure
    /// It cannot work before somebody corrects the configuration.
    case configuration

    /// The less bad first.
    public static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
  }

  /// What was looked at.
  public var check: Check
  /// Of what: an app and its environment, a topic, a file; nil: of the whole.
  public var subject: String?
  /// How bad it is.
  public var severity: Severity
  /// What was found, in one clause without a secret.
  public var what: String
  /// What to do now; nil where there is nothing to do.
  public var remedy: String?
  /// How long it took, where that says something.
  public var time: Duration?

  init(
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

  /// The finding that an error is.
  init(_ check: Check, _ error: any Error, of subject: String? = nil) {
    let report = FailureReport(error)
    let line = report.lines.first ?? "\(error)"
    // Errors are `what; remedy`.
    let parts = line.split(separator: ";", maxSplits: 1).map { $0.trimmingPrefix(while: { $0 == " " }) }
    self.init(
      check, report.status == .configuration ? .configuration : .failure, parts.first.map(String.init) ?? line,
      of: subject, remedy: parts.count > 1 ? String(parts[1]) : "run it again with the log of the broker or of Apple")
  }

  /// One object for a script, without a line feed.
  public var jsonLine: String {
    var json: JSONObject = ["check": .string(check.rawValue), "result": .string(severity.rawValue)]
    json["of"] = subject.map { .string($0) }
    json["detail"] = .string(what)
    json["do"] = remedy.map { .string($0) }
    json["milliseconds"] = time.map { .integer(Int64($0 / .milliseconds(1))) }
    return String(decoding: json.serialized(), as: UTF8.self)
  }

  /// The columns of ``row``.
  public static let columns = [
    TextColumn("CHECK", minimumWidth: 17), TextColumn("RESULT", minimumWidth: 13), TextColumn("OF"), TextColumn("WHAT"),
  ]

  /// One row for a person; what to do stands below, see ``advice(usesColor:)``.
  public var row: [TextCell] {
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

  /// What to do, as a line below the row.
  public func advice(usesColor: Bool) -> String? {
    remedy.map { TextStyle.bold.applied(to: "    → \(TerminalText.safe($0))", usesColor: usesColor) }
  }
}

/// How it ends.
public struct DoctorSummary: Sendable, Hashable {
  /// Everything that was found.
  public var findings: [DoctorFinding]

  /// Of these findings.
  public init(_ findings: [DoctorFinding]) { self.findings = findings }

  /// By the worst finding; a warning is no failure.
  public var status: CommandStatus {
    switch findings.map(\.severity).max() {
    case .configuration?: .configuration
    case .failure?: .failure
    case .warning?, .skipped?, .good?, nil: .success
    }
  }

  /// One line.
  public var sentence: String {
    func count(_ severities: DoctorFinding.Severity...) -> Int { findings.count { severities.contains($0.severity) } }
    let (bad, warnings, skipped) = (count(.failure, .configuration), count(.warning), count(.skipped))
    let head = bad == 0 ? "The whole way is sound" : HumanText.count(bad, "thing") + " to put right"
    let tail = [
      warnings > 0 ? HumanText.count(warnings, "warning") : nil, skipped > 0 ? "\(skipped) not looked at" : nil,
    ].compactMap(\.self)
    return ([head] + tail).joined(separator: ", ") + "."
  }
}

/// Prints findings as they come, as rows or as JSON lines.
public final class DoctorPrinter: Sendable {
  private let out: Output
  private let asJSON: Bool
  private let table: Mutex<StreamingTable>
  private let hasHeader = Mutex(false)

  /// Prints to a place.
  public init(_ out: Output, asJSON: Bool) {
    self.out = out
    self.asJSON = asJSON
    table = Mutex(StreamingTable(DoctorFinding.columns, lineWidth: out.width, usesColor: out.usesColor))
  }

  /// Prints one finding.
  /// - Throws: ``OperationError`` of kind `outputClosed` where the reader is gone.
  public func print(_ finding: DoctorFinding) throws {
    if asJSON { return try out.line(finding.jsonLine) }
    let isFirst = hasHeader.withLock { hasHeader in
      defer { hasHeader = true }
      return !hasHeader
    }
    let lines = table.withLock { table in (isFirst ? table.header() : []) + table.lines(finding.row) }
    try out.lines(lines + [finding.advice(usesColor: out.usesColor)].compactMap(\.self))
  }
}
