// A process's report about itself on `millrace.control`, or on `millrace.ingress`: what neither its consumer group nor the
// topics tell. Compaction keeps the newest report of each process.

package import AppStore
package import KafkaClient

/// The state of a worker in one process, of an ingress, of the PostgreSQL writer, or of the console that posts alerts.
package struct ProcessReport: Sendable, Hashable {
  /// An open circuit: the worker holds back the requests to its endpoint.
  package struct Circuit: Sendable, Hashable {
    /// Whether the endpoint answers as if it were misconfigured.
    package var isMisconfigured: Bool
    /// The last failure.
    package var cause: String?

    package init(isMisconfigured: Bool, cause: String?) {
      self.isMisconfigured = isMisconfigured
      self.cause = cause
    }
  }

  /// The use of Apple's limit of one endpoint, for one app and environment.
  package struct Budget: Sendable, Hashable {
    package var bundleId: String
    package var environment: String
    package var endpoint: String
    /// The rate that the process has, in calls per second.
    package var perSecond: Double
    /// The number of calls that wait.
    package var waiting: Int
    /// Whether Apple refused the tokens of the last call with 401.
    package var isRefused: Bool

    package init(
      bundleId: String, environment: String, endpoint: String, perSecond: Double, waiting: Int, isRefused: Bool = false
    ) {
      self.bundleId = bundleId
      self.environment = environment
      self.endpoint = endpoint
      self.perSecond = perSecond
      self.waiting = waiting
      self.isRefused = isRefused
    }
  }

  /// The requests that an ingress has refused for one reason.
  package struct Refusals: Sendable, Hashable {
    /// The reason, as in the metrics.
    package var reason: String
    /// The number of requests since the start of the process.
    package var count: Int64
    /// The time of the last one.
    package var lastAt: Timestamp

    package init(reason: String, count: Int64, lastAt: Timestamp) {
      (self.reason, self.count, self.lastAt) = (reason, count, lastAt)
    }
  }

  /// The largest number of reasons in a report. The ingress has fewer.
  package static let maximumReasons = 64
  /// The largest length of a reason in bytes.
  private static let longestReason = 64

  /// The name of the reports of `millrace-ingress`.
  package static let ingress = "ingress"
  /// The topic of these reports, without the deployment's prefix. The ingress may not write to the control topic, because
  /// a notice there can stop calls to Apple.
  package static let ingressTopic = "millrace.ingress"
  /// The name of the reports of `millrace-postgres`.
  package static let postgres = "postgres"
  /// The name of the report of the console that posts alerts.
  package static let console = "console"

  /// The worker's name, or one of the names above.
  package var name: String
  /// The name of the process, which no other process with the same ``name`` has.
  package var instance: String
  /// Millrace's version.
  package var version: String
  /// When the process began, in real time; nil if it does not say so.
  package var started: Timestamp?
  /// The lanes that run.
  package var lanes: [Int32] = []
  /// The number of timers whose last run failed and that will run again.
  package var failingTimers = 0
  /// The open circuit; nil if it is closed, or there is none.
  package var circuit: Circuit?
  /// The endpoints of Apple that the process has called.
  package var budgets: [Budget] = []
  /// The offsets that are not written to the database, by topic.
  package var lag: [String: Int64] = [:]
  /// When the process started; nil if it does not say.
  package var startedAt: Timestamp?
  /// The requests that an ingress has refused, by reason.
  package var refusals: [Refusals] = []
  /// Why the process does not do its work; nil if it does.
  package var problem: String?

  /// The kind of these records on the topic.
  static let kind = "process"

  /// Creates a report without details.
  package init(_ name: String, instance: String, version: String) {
    (self.name, self.instance, self.version) = (name, instance, version)
  }

  /// Whether another report has the same state apart from figures that change all the time.
  func hasState(of other: ProcessReport) -> Bool {
    key == other.key && lanes == other.lanes && circuit == other.circuit && problem == other.problem
      && failingTimers == other.failingTimers && refusals.map(\.reason) == other.refusals.map(\.reason)
      && refusedApps == other.refusedApps
  }

  private var refusedApps: Set<[String]> { Set(budgets.filter(\.isRefused).map { [$0.bundleId, $0.environment] }) }

  /// The key of the record.
  package var key: String { "\(Self.kind)/\(name)/\(instance)" }

  /// The record of the report.
  package func record(to topic: String) -> ProducerRecord {
    var json: JSONObject = [
      "kind": .string(Self.kind), "name": .string(name), "instance": .string(instance), "version": .string(version),
      "lanes": .array(lanes.map { .integer(Int64($0)) }),
    ]
    json["started"] = started.map { .string($0.rfc3339) }
    if failingTimers > 0 { json["failingTimers"] = .integer(Int64(failingTimers)) }
    if let circuit {
      var object: JSONObject = ["misconfigured": .bool(circuit.isMisconfigured)]
      object["cause"] = circuit.cause.map { .string($0) }
      json["circuit"] = .object(object)
    }
    if !budgets.isEmpty {
      json["budgets"] = .array(
        budgets.map { budget in
          var object: JSONObject = [
            "bundleId": .string(budget.bundleId), "environment": .string(budget.environment),
            "endpoint": .string(budget.endpoint), "perSecond": .number("\(budget.perSecond)"),
            "waiting": .integer(Int64(budget.waiting)),
          ]
          if budget.isRefused { object["refused"] = true }
          return .object(object)
        })
    }
    if !lag.isEmpty {
      var object: JSONObject = [:]
      for (topic, records) in lag.sorted(by: { $0.key < $1.key }) { object[topic] = .integer(records) }
      json["lag"] = .object(object)
    }
    json["startedAt"] = startedAt.map { .string($0.rfc3339) }
    if !refusals.isEmpty {
      json["refusals"] = .array(
        refusals.prefix(Self.maximumReasons).map { refusals in
          [
            "reason": .string(refusals.reason), "count": .integer(refusals.count),
            "lastAt": .string(refusals.lastAt.rfc3339),
          ]
        })
    }
    json["problem"] = problem.map { .string($0) }
    return ProducerRecord(
      topic: topic, partition: 0, key: Array(key.utf8), value: json.serialized(),
      headers: [RecordHeader("content-type", "application/json")])
  }

  /// The record that removes the report of a process that has ended.
  func tombstone(on topic: String) -> ProducerRecord {
    ProducerRecord(topic: topic, partition: 0, key: Array(key.utf8), value: nil)
  }

  /// Reads a report; nil for another kind of record, or if it lacks a member.
  package init?(_ json: JSONObject) {
    guard json["kind"] == .string(Self.kind), case .string(let name)? = json["name"],
      case .string(let instance)? = json["instance"], case .string(let version)? = json["version"]
    else { return nil }
    self.init(name, instance: instance, version: version)
    started = Self.text(json["started"]).flatMap { Timestamp(rfc3339: $0) }
    if case .array(let numbers)? = json["lanes"] {
      lanes = numbers.compactMap { if case .integer(let number) = $0 { Int32(exactly: number) } else { nil } }
    }
    if case .integer(let count)? = json["failingTimers"] { failingTimers = Int(clamping: count) }
    if case .object(let object)? = json["circuit"] {
      circuit = Circuit(isMisconfigured: object["misconfigured"] == .bool(true), cause: Self.text(object["cause"]))
    }
    if case .array(let rows)? = json["budgets"] { budgets = rows.compactMap(Budget.init) }
    if case .object(let object)? = json["lag"] {
      for member in object.members { if case .integer(let records) = member.value { lag[member.key] = records } }
    }
    startedAt = Self.text(json["startedAt"]).flatMap { Timestamp(rfc3339: $0) }
    if case .array(let rows)? = json["refusals"] {
      refusals = rows.prefix(Self.maximumReasons).compactMap(Refusals.init).filter {
        $0.reason.utf8.count <= Self.longestReason
      }
    }
    problem = Self.text(json["problem"])
  }

  fileprivate static func text(_ json: JSON?) -> String? { if case .string(let text)? = json { text } else { nil } }
}

extension ProcessReport.Refusals {
  fileprivate init?(_ json: JSON) {
    guard case .object(let object) = json, let reason = ProcessReport.text(object["reason"]),
      case .integer(let count)? = object["count"], count >= 0,
      let lastAt = ProcessReport.text(object["lastAt"]).flatMap({ Timestamp(rfc3339: $0) })
    else { return nil }
    self.init(reason: reason, count: count, lastAt: lastAt)
  }
}

extension ProcessReport.Budget {
  fileprivate init?(_ json: JSON) {
    guard case .object(let object) = json, let bundleId = ProcessReport.text(object["bundleId"]),
      let environment = ProcessReport.text(object["environment"]),
      let endpoint = ProcessReport.text(object["endpoint"]),
      case .number(let rate)? = object["perSecond"], let perSecond = Double(rate),
      case .integer(let waiting)? = object["waiting"]
    else { return nil }
    self.init(
      bundleId: bundleId, environment: environment, endpoint: endpoint, perSecond: perSecond,
      waiting: Int(clamping: waiting), isRefused: object["refused"] == .bool(true))
  }
}
