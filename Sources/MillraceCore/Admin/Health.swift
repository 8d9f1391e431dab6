// Health checks and reports as values: no I/O, no clock.

internal import AppStore

/// The result of one check.
package struct CheckOutcome: Sendable, Hashable {
  /// Whether the check passed.
  package var isHealthy: Bool
  /// The finding, in one sentence without secrets.
  package var detail: String
  /// The action for the operator; `nil` if the check passed.
  package var remedy: String?

  /// Creates the result of a check that passed.
  package static func healthy(_ detail: String) -> CheckOutcome {
    CheckOutcome(isHealthy: true, detail: detail, remedy: nil)
  }

  /// Creates the result of a check that failed.
  package static func unhealthy(_ detail: String, remedy: String) -> CheckOutcome {
    CheckOutcome(isHealthy: false, detail: detail, remedy: remedy)
  }
}

/// The answer to a probe.
package struct HealthReport: Sendable, Hashable {
  /// The result of a named check.
  package struct Entry: Sendable, Hashable {
    /// The check's name.
    package var name: String
    /// The check's result.
    package var outcome: CheckOutcome

    /// Creates an entry.
    package init(name: String, outcome: CheckOutcome) {
      self.name = name
      self.outcome = outcome
    }
  }

  /// The results, in the order in which the checks were given.
  package var entries: [Entry]

  /// Creates a report.
  package init(_ entries: [Entry]) { self.entries = entries }

  /// Whether every check passed; true for a report without checks.
  package var isHealthy: Bool { entries.allSatisfy(\.outcome.isHealthy) }

  /// Returns the response body: `{"status": "ready", "checks": [{"name", "ok", "detail", "do"}]}` and a newline.
  package func json(good: String, bad: String) -> [UInt8] {
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
