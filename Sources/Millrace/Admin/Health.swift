// Health as values: what a check found, what a report says. No I/O, no clock.

internal import AppStore

/// What one check found.
public struct CheckOutcome: Sendable, Hashable {
  /// Whether all is well.
  public var isHealthy: Bool
  /// What was found, in one sentence without secrets.
  public var detail: String
  /// What to do now; `nil` when all is well.
  public var remedy: String?

  /// All is well.
  public static func healthy(_ detail: String) -> CheckOutcome {
    CheckOutcome(isHealthy: true, detail: detail, remedy: nil)
  }

  /// Something is wrong.
  public static func unhealthy(_ detail: String, remedy: String) -> CheckOutcome {
    CheckOutcome(isHealthy: false, detail: detail, remedy: remedy)
  }
}

/// What a probe is answered.
public struct HealthReport: Sendable, Hashable {
  /// One check by name.
  public struct Entry: Sendable, Hashable {
    /// The check's name.
    public var name: String
    /// What it found.
    public var outcome: CheckOutcome

    /// An entry.
    public init(name: String, outcome: CheckOutcome) {
      self.name = name
      self.outcome = outcome
    }
  }

  /// In the order in which the checks were given.
  public var entries: [Entry]

  /// A report of these entries.
  public init(_ entries: [Entry]) { self.entries = entries }

  /// Whether every check is healthy; a report of no checks is.
  public var isHealthy: Bool { entries.allSatisfy(\.outcome.isHealthy) }

  /// The answer's body: `{"status": "ready", "checks": [{"name", "ok", "detail", "do"}]}`, newline at the end.
  public func json(good: String, bad: String) -> [UInt8] {
    let checks = entries.map { entry in
      var members: [JSONObject.Member] = [
        .init(key: "name", value: .string(entry.name)), .init(key: "ok", value: .bool(entry.outcome.isHealthy)),
        .init(key: "detail", value: .string(entry.outcome.detail)),
      ]
      if let remedy = entry.outcome.remedy { members.append(.init(key: "do", value: .string(remedy))) }
      return JSON.object(JSONObject(members))
    }
    let report = JSONObject([
      .init(key: "status", value: .string(isHealthy ? good : bad)), .init(key: "checks", value: .array(checks)),
    ])
    return report.serialized() + [UInt8(ascii: "\n")]
  }
}
