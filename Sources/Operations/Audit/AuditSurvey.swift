// The audit trail together with what was last heard of runs: what `millrace audit` shows. Pure.

public import AppStore
internal import Millrace

/// Everything that was done on an operator's word, and where it stands.
public struct AuditSurvey: Sendable {
  /// Beginnings and ends.
  public var trail: AuditTrail
  /// What was heard between.
  public var pulse: RunPulse
  /// When.
  public var at: Timestamp

  /// A survey.
  public init(_ trail: AuditTrail, _ pulse: RunPulse, at time: Timestamp) {
    (self.trail, self.pulse, at) = (trail, pulse, time)
  }

  /// One line of it.
  public struct Line: Sendable, Hashable {
    /// What was done.
    public var entry: AuditEntry
    /// Where it stands.
    public var standing: AuditEntry.Standing
  }

  /// The lines, what began last at the end.
  /// - Parameter isOpenOnly: Without what is over.
  public func lines(isOpenOnly: Bool = false) -> [Line] {
    trail.entries.filter { !isOpenOnly || !$0.isOver }.map { Line(entry: $0, standing: $0.standing(pulse, at: at)) }
  }
}

extension AuditSurvey.Line: Reportable {
  /// The columns of ``row``.
  public static let columns = [
    TextColumn("BEGAN"), TextColumn("WHAT"), TextColumn("BY"), TextColumn("TO"), TextColumn("RESULT"),
    TextColumn("HOW MANY"), TextColumn("RUN"), TextColumn("WHY"),
  ]

  /// One line of a list.
  public var row: [TextCell] {
    let state: TextCell =
      switch standing {
      case .over(let result):
        TextCell(
          [result.rawValue, result.detail].compactMap { $0 }.joined(separator: ": "),
          result == .done ? .green : result == .stopped ? .yellow : .red)
      case .goingOn: "going on"
      case .paused: TextCell("paused", .yellow)
      case .silent(let since): TextCell("no word since \(RecordView.seconds(since))", .yellow)
      }
    let counts = entry.counts.filter { $0.count != 0 }.map { "\($0.count) \($0.name)" }.joined(separator: ", ")
    return [
      TextCell(RecordView.seconds(entry.startedAt), .dim), TextCell(entry.action.rawValue), TextCell(entry.by),
      TextCell(entry.target ?? ""), state, TextCell(counts), TextCell(entry.run, .cyan), TextCell(entry.why ?? ""),
    ]
  }

  /// The entry with where it stands: `state` is `over`, `running`, `paused` or `silent`, the last with `silentSince`.
  public var jsonLine: String {
    var json = entry.json
    switch standing {
    case .over: json["state"] = "over"
    case .goingOn: json["state"] = "running"
    case .paused: json["state"] = "paused"
    case .silent(let since):
      json["state"] = "silent"
      json["silentSince"] = .string(since.rfc3339)
    }
    return String(decoding: json.serialized(), as: UTF8.self)
  }
}
