// `millrace status`: the state of a deployment as a table, and as lines of JSON.

internal import AppStore
internal import AppStoreServerAPI
package import MillraceCore
internal import MillraceRecords
internal import MillraceTime
internal import Operations

extension DeploymentStatus {
  /// A line of JSON for each worker, and one for the deployment.
  package func jsonLines(_ settings: AlertSettings) -> [String] {
    var deployment: JSONObject = ["at": .string(at.rfc3339)]
    if let quarantine {
      deployment["quarantine"] = .integer(quarantine.offsets)
      deployment["quarantined"] = Self.counts(quarantine.recent)
    }
    deployment["pauses"] = .array(
      pauses.map { pause in
        [
          "endpoint": .string(pause.key.endpoint.rawValue), "bundleId": .string(pause.key.bundleId),
          "environment": .string(pause.key.environment.rawValue), "until": .string(pause.until.rfc3339),
        ]
      })
    if !ingress.isEmpty { deployment["ingress"] = .array(ingress.map { .object($0.json) }) }
    if let postgres {
      var writer: JSONObject = [:]
      writer["processes"] = postgres.processes.map { .integer(Int64($0)) }
      writer["problem"] = postgres.problem.map { .string($0) }
      writer["lag"] = Self.counts(postgres.lag.mapValues { Int($0) })
      deployment["postgres"] = .object(writer)
    }
    if let alerts {
      var poster: JSONObject = [:]
      poster["instance"] = alerts.instance.map { .string($0) }
      poster["problem"] = alerts.problem.map { .string($0) }
      deployment["alerts"] = .object(poster)
    }
    if !refused.isEmpty { deployment["refused"] = .array(refusals.map { .string($0) }) }
    deployment["conditions"] = .array(
      conditions(settings).map { .object($0.json) })
    return (workers.map(\.json) + [deployment]).map { String(decoding: $0.serialized(), as: UTF8.self) }
  }

  fileprivate static func counts(_ counts: [String: Int]) -> JSON {
    .object(
      JSONObject(
        counts.sorted { $0.key < $1.key }.map { JSONObject.Member(key: $0.key, value: .integer(Int64($0.value))) }))
  }

  /// A table of the workers, what needs attention, and sentences about the rest.
  package func lines(_ settings: AlertSettings, lineWidth: Int?, usesColor: Bool) -> [String] {
    let columns = [
      TextColumn("WORKER"), TextColumn("PROCESSES"), TextColumn("LAG", alignment: .right), TextColumn("OLDEST"),
      TextColumn("RETRIES", alignment: .right), TextColumn("DEAD LETTERS", alignment: .right), TextColumn(""),
    ]
    var lines = TextTable.lines(
      columns, rows: workers.map { $0.row(at: at) }, lineWidth: lineWidth, usesColor: usesColor)
    let budgets = workers.flatMap { worker in worker.budgets.map { (worker.lag.worker, $0) } }
    if !budgets.isEmpty {
      let columns = [
        TextColumn("APPLE'S LIMIT"), TextColumn("APP"), TextColumn("ENVIRONMENT"), TextColumn("WORKER"),
        TextColumn("A MINUTE", alignment: .right), TextColumn("WAITING", alignment: .right),
      ]
      lines += TextTable.lines(
        columns,
        rows: budgets.map { worker, budget in
          [
            TextCell(budget.endpoint), TextCell(budget.bundleId), TextCell(budget.environment), TextCell(worker, .cyan),
            TextCell("\(Int((budget.perSecond * 60).rounded()))"),
            TextCell("\(budget.waiting)", budget.waiting > 0 ? .yellow : .dim),
          ]
        }, lineWidth: lineWidth, usesColor: usesColor)
    }
    let refused = refusedRequests
    if !refused.isEmpty {
      lines += TextTable.lines(
        [TextColumn("INGRESS REFUSED"), TextColumn("REQUESTS", alignment: .right), TextColumn("LAST")],
        rows: refused.map { refusals in
          [
            TextCell(refusals.reason, .yellow), TextCell("\(refusals.count)"),
            TextCell(RecordView.seconds(refusals.lastAt), .dim),
          ]
        }, lineWidth: lineWidth, usesColor: usesColor)
    }
    lines += conditions(settings).flatMap { condition in
      [
        TextStyle.red.applied(to: TerminalText.safe(condition.line), usesColor: usesColor),
        TextStyle.bold.applied(to: "    → \(TerminalText.safe(condition.remedy))", usesColor: usesColor),
      ]
    }
    return lines + sentences
  }

  /// The refusals of all ingress processes, summed by reason, the latest first.
  var refusedRequests: [ProcessReport.Refusals] {
    var sums: [String: ProcessReport.Refusals] = [:]
    for refusals in ingress.flatMap(\.refusals) {
      guard var sum = sums[refusals.reason] else {
        sums[refusals.reason] = refusals
        continue
      }
      sum.count = sum.count.addingReportingOverflow(refusals.count).partialValue
      sum.lastAt = max(sum.lastAt, refusals.lastAt)
      sums[refusals.reason] = sum
    }
    return sums.values.sorted { ($1.lastAt, $0.reason) < ($0.lastAt, $1.reason) }
  }

  var refusals: [String] { refused.values.map { "\($0)" }.sorted() }

  private var sentences: [String] {
    var sentences = refusals.map { "Processes are known by their reports only: \(TerminalText.safe($0))." }
    sentences += pauses.map { "Apple accepts no calls to \($0.key) until \($0.until.rfc3339)." }
    if let quarantine {
      sentences.append(
        "Quarantine: \(HumanText.count(Int(quarantine.offsets), "record"))"
          + (quarantine.offsets > 0 ? "; millrace quarantine list shows them." : "."))
    }
    if let postgres {
      let processes = postgres.processes.map { HumanText.count($0, "process", plural: "processes") } ?? "unknown"
      sentences.append("PostgreSQL: \(processes), \(postgres.lag.values.reduce(0, +)) behind.")
    }
    if let alerts {
      let problem = alerts.problem.map { ", which says: \(TerminalText.safe($0))" } ?? ""
      sentences.append(
        alerts.instance.map { "Alerts: posted by \($0)\(problem)." }
          ?? "Alerts: no process posts them; start millrace-console.")
    }
    return sentences
  }
}

extension DeploymentStatus.Ingress {
  fileprivate var json: JSONObject {
    var json: JSONObject = ["instance": .string(instance), "version": .string(version)]
    json["startedAt"] = startedAt.map { .string($0.rfc3339) }
    json["refusals"] = .object(
      JSONObject(
        refusals.map { refusals in
          JSONObject.Member(
            key: refusals.reason,
            value: ["count": .integer(refusals.count), "lastAt": .string(refusals.lastAt.rfc3339)])
        }))
    return json
  }
}

extension DeploymentStatus.Worker {
  fileprivate func row(at now: Timestamp) -> [TextCell] {
    let cell =
      switch processes?.count {
      case nil: TextCell("unknown", .dim)
      case 0?: TextCell("none runs", .red)
      case let count?: TextCell("\(count)")
      }
    let age = lag.oldest.map { DurationText.text(.seconds(max(0, (now - $0).components.seconds))) } ?? ""
    return [
      TextCell(lag.worker, .cyan), cell, TextCell("\(lag.records)"), TextCell(age), TextCell("\(waiting)"),
      TextCell("\(open)", open > 0 ? .red : .dim), TextCell(note, .dim),
    ]
  }

  private var note: String {
    guard lag.hasTopics else { return "its topics do not exist" }
    let versions = Set((processes ?? []).compactMap(\.version)).sorted()
    let delays = retries.flatMap { row in
      row.reasons.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key) (\(row.delay))" }
    }
    let parts: [String?] = [
      lag.hasRun ? nil : "has not run", circuit.map { _ in "circuit open" },
      failingTimers > 0 ? HumanText.count(failingTimers, "failing timer") : nil,
      restarts.isEmpty ? nil : HumanText.count(restarts.values.reduce(0, +), "restart"),
      delays.isEmpty ? nil : "retries: \(delays.prefix(3).joined(separator: ", "))",
      dead.isEmpty ? nil : "dead: \(dead.prefix(3).map { "\($0.open) \($0.key.reason)" }.joined(separator: ", "))",
      versions.count > 1 ? "versions \(versions.joined(separator: ", "))" : nil,
    ]
    return parts.compactMap(\.self).joined(separator: "; ")
  }

  fileprivate var json: JSONObject {
    var json: JSONObject = ["worker": .string(lag.worker), "hasTopics": .bool(lag.hasTopics)]
    json["hasRun"] = .bool(lag.hasRun)
    json["processes"] = processes.map { processes in
      .array(
        processes.map { process in
          var object: JSONObject = [:]
          object["host"] = process.host.map { .string($0) }
          object["instance"] = process.instance.map { .string($0) }
          object["version"] = process.version.map { .string($0) }
          object["lanes"] = .array(process.lanes.map { .integer(Int64($0)) })
          object["problem"] = process.problem.map { .string($0) }
          return .object(object)
        })
    }
    json["lag"] = .integer(lag.records)
    json["oldest"] = lag.oldest.map { .string($0.rfc3339) }
    json["lanes"] = .array(
      lag.lanes.map { lane in
        var lag: JSONObject = ["lane": .integer(Int64(lane.lane)), "lag": .integer(lane.records)]
        lag["oldest"] = lane.oldest.map { .string($0.rfc3339) }
        return .object(lag)
      })
    json["retries"] = .array(
      retries.map { row in
        var retry: JSONObject = ["delay": .string(row.delay), "waiting": .integer(Int64(row.waiting))]
        retry["next"] = row.next.map { .string($0.rfc3339) }
        retry["reasons"] = DeploymentStatus.counts(row.reasons)
        return .object(retry)
      })
    json["deadLetters"] = .array(
      dead.map { group in
        [
          "reason": .string(group.key.reason), "bundleId": .string(group.key.app), "open": .integer(Int64(group.open)),
          "oldest": .string(group.oldest.rfc3339), "newest": .string(group.newest.rfc3339),
        ]
      })
    if let circuit {
      var object: JSONObject = ["misconfigured": .bool(circuit.isMisconfigured)]
      object["cause"] = circuit.cause.map { .string($0) }
      json["circuit"] = .object(object)
    }
    json["failingTimers"] = .integer(Int64(failingTimers))
    json["restarts"] = DeploymentStatus.counts(restarts)
    json["budgets"] = .array(
      budgets.map { budget in
        [
          "endpoint": .string(budget.endpoint), "bundleId": .string(budget.bundleId),
          "environment": .string(budget.environment), "perSecond": .number("\(budget.perSecond)"),
          "waiting": .integer(Int64(budget.waiting)), "refused": .bool(budget.isRefused),
        ]
      })
    return json
  }
}
