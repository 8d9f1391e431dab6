// The results of a rehearsal, as text and as JSON.

public import AppStore
internal import MillraceTime

/// The report at the end of a scenario, or at any time during it.
public struct SimulatorReport: Sendable, Hashable {
  /// The time at which the scenario began.
  package let origin: Timestamp
  /// The time at which the report was created.
  package let now: Timestamp
  /// The notifications and their delivery.
  package let deliveries: DeliveryTally
  /// The progress of all events of the scenario, started or not.
  package let events: [EventOutcome]
  /// The requests received, and the rules that callers broke.
  package let api: APIReport
}

extension SimulatorReport {
  /// The whole report as JSON.
  public var json: JSONObject {
    var json = world
    json["now"] = .string(now.rfc3339)
    for member in api.json.members { json[member.key] = member.value }
    return json
  }

  /// The report without the API's part, as JSON.
  var world: JSONObject {
    [
      "began": .string(origin.rfc3339),
      "notifications": .object(deliveries.json),
      "events": .array(
        events.map { event in
          var json: JSONObject = [
            "do": .string(event.name), "wanted": .integer(Int64(event.wanted)), "done": .integer(Int64(event.done)),
          ]
          json["problem"] = event.problem.map { .string($0) }
          return .object(json)
        }),
    ]
  }

  /// The report as lines for a terminal.
  public var text: String {
    var lines = [
      "Scenario   \(DurationText.text(.seconds((now - origin).components.seconds))) from \(origin.rfc3339)",
      "Sent       \(deliveries.sentCount) notifications: \(deliveries.acknowledged) acknowledged, "
        + "\(deliveries.waiting) waiting, \(deliveries.abandoned) given up; \(deliveries.retries) retries, "
        + "\(deliveries.duplicates) duplicates",
    ]
    lines += deliveries.sent.sorted { $0.key < $1.key }.map { "             \($0.value)  \($0.key)" }
    if deliveries.forgotten > 0 {
      lines.append("             \(deliveries.forgotten) dropped before delivery (raise world.remember)")
    }
    let failed = deliveries.attempts.filter { $0.key != .success }.sorted { $0.key.rawValue < $1.key.rawValue }
    if !failed.isEmpty {
      lines.append("Failures   " + failed.map { "\($0.value) \($0.key.rawValue)" }.joined(separator: ", "))
    }
    for event in events where event.done < event.wanted || event.problem != nil {
      lines.append(
        "Event      \(event.name): \(event.done) of \(event.wanted)" + (event.problem.map { "; \($0)" } ?? ""))
    }
    lines.append("Asked      \(api.asked.reduce(0) { $0 + $1.count }) requests")
    for asked in api.asked {
      let answers = asked.byStatus.sorted { $0.key < $1.key }.map { "\($0.value)×\($0.key)" }
      let reset = asked.withoutAnswer > 0 ? ["\(asked.withoutAnswer) without an answer"] : []
      lines.append(
        "             \(asked.count)  \(asked.endpoint.rawValue): \((answers + reset).joined(separator: ", "))")
    }
    lines.append(api.broken.isEmpty ? "Rules      none broken" : "Rules broken by the caller")
    for breach in api.broken {
      lines.append("             \(breach.count)  \(breach.rule.rawValue): \(breach.rule.explanation)")
      lines += breach.examples.map { "                 \($0)" }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
