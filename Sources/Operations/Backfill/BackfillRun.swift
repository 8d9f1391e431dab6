// A run of `millrace backfill` as stored in the compacted topic `millrace.backfills`. The console, other terminals and
// the next process after a crash read it too. Values with different writers have different keys.

package import AppStore
package import KafkaClient
package import MillraceWorker

/// A backfill run.
package struct BackfillRun: Sendable, Hashable {
  /// The state of a run.
  package enum State: String, Sendable, Hashable, CaseIterable {
    /// A process works on the run, or did until it was killed: see ``BackfillRun/updatedAt``.
    case running
    /// An operator paused the run.
    case paused
    /// Every notification is in its topic.
    case done
    /// An operator stopped the run.
    case stopped
    /// An error or a signal ended the run; ``BackfillRun/detail`` says which.
    case failed

    /// Whether the run is over for good.
    package var isOver: Bool { self == .done || self == .stopped }
  }

  /// The run's ID.
  package var id: String
  /// The notifications to fetch.
  package var selection: BackfillSelection
  /// The length of a slice.
  package var sliceLength: Duration
  /// The operator who started the run.
  package var by: String
  /// The start time.
  package var startedAt: Timestamp
  /// The current state.
  package var state = State.running
  /// The process that works on the run. A process that continues the run becomes its owner.
  package var owner: String
  /// The number of the owner, from 1. Readers ignore writes of earlier owners.
  package var claim = 1
  /// The time of the owner's last heartbeat.
  package var updatedAt: Timestamp
  /// The number of slices that are done.
  package var slicesDone = 0
  /// The totals so far.
  package var counts = BackfillCounts()
  /// The reason for a failure.
  package var detail: String?

  /// A new run without progress.
  package init(
    id: String, _ selection: BackfillSelection, sliceLength: Duration, by: String, owner: String, at time: Timestamp
  ) {
    self.id = id
    self.selection = selection
    self.sliceLength = sliceLength
    self.by = by
    self.owner = owner
    startedAt = time
    updatedAt = time
  }

  /// All slices.
  package var slices: [BackfillSlice] { BackfillSlice.plan(selection, length: sliceLength) }

  /// The interval of the owner's heartbeats.
  static let heartbeat = Duration.seconds(5)

  /// Whether the owner's last heartbeat is recent.
  package func isAlive(at now: Timestamp) -> Bool {
    (state == .running || state == .paused) && now - updatedAt < Self.heartbeat * 3
  }
}

extension BackfillRun {
  /// The run as stored and shown.
  package var json: JSONObject {
    var json: JSONObject = [
      "kind": "run", "run": .string(id), "state": .string(state.rawValue), "selection": .object(selection.json),
      "sliceMilliseconds": .integer(Int64(sliceLength / .milliseconds(1))), "slices": .integer(Int64(slices.count)),
      "slicesDone": .integer(Int64(slicesDone)), "by": .string(by), "startedAt": startedAt.jsonValue,
      "owner": .string(owner), "claim": .integer(Int64(claim)), "updatedAt": updatedAt.jsonValue,
    ]
    for (name, count) in counts.members { json[name] = .integer(Int64(count)) }
    json["detail"] = detail.map { .string($0) }
    return json
  }

  init?(json: JSONObject) {
    guard let id: String = json.value("run"), case .object(let kept)? = json["selection"],
      let selection = BackfillSelection(json: kept), let length: Int = json.value("sliceMilliseconds"),
      let owner: String = json.value("owner"), let startedAt: Timestamp = json.value("startedAt"), length > 0
    else { return nil }
    self.init(
      id: id, selection, sliceLength: .milliseconds(length), by: json.value("by") ?? "", owner: owner, at: startedAt)
    state = (json.value("state") as String?).flatMap { State(rawValue: $0) } ?? .failed
    updatedAt = json.value("updatedAt") ?? startedAt
    claim = json.value("claim") ?? 1
    slicesDone = json.value("slicesDone") ?? 0
    counts = BackfillCounts(json: json)
    detail = json.value("detail")
  }
}

/// The progress of `--follow` in one history.
package struct FollowMark: Sendable, Hashable {
  /// All notifications before this time were requested.
  package var through: Timestamp
  /// The time of the last sweep over all of Apple's retry period.
  package var sweptAt: Timestamp

  /// Creates a mark.
  package init(through: Timestamp, sweptAt: Timestamp) {
    self.through = through
    self.sweptAt = sweptAt
  }
}

/// One record of the topic.
enum BackfillRecord: Sendable, Hashable {
  case run(BackfillRun)
  case mark(run: String, slice: Int, BackfillMark)
  case control(run: String, RunVerb, by: String, at: Timestamp)
  case follow(BackfillTarget, FollowMark)

  /// The topic's name, without the deployment's prefix.
  static let topic = "millrace.backfills"

  var key: String {
    switch self {
    case .run(let run): "run/\(run.id)/\(run.claim)"
    case .mark(let run, let slice, _): "slice/\(run)/\(slice)"
    case .control(let run, _, _, _): "wish/\(run)"
    case .follow(let target, _): "follow/\(target.environment)/\(target.bundleId)"
    }
  }

  var json: JSONObject {
    switch self {
    case .run(let run): return run.json
    case .mark(let run, let slice, let mark):
      var json: JSONObject = [
        "kind": "slice", "run": .string(run), "slice": .integer(Int64(slice)), "done": .bool(mark.isDone),
      ]
      json["token"] = mark.token.map { .string($0) }
      for (name, count) in mark.counts.members { json[name] = .integer(Int64(count)) }
      return json
    case .control(let run, let verb, let by, let at):
      return [
        "kind": "wish", "run": .string(run), "wish": .string(verb.rawValue), "by": .string(by), "at": at.jsonValue,
      ]
    case .follow(let target, let mark):
      return [
        "kind": "follow", "bundleId": .string(target.bundleId), "environment": .string(target.environment.rawValue),
        "through": mark.through.jsonValue, "sweptAt": mark.sweptAt.jsonValue,
      ]
    }
  }

  /// Reads a record's value; nil for unknown kinds, which newer versions may write.
  init?(_ json: JSONObject) {
    switch json.value("kind") as String? {
    case "run":
      guard let run = BackfillRun(json: json) else { return nil }
      self = .run(run)
    case "slice":
      guard let run: String = json.value("run"), let slice: Int = json.value("slice") else { return nil }
      var mark = BackfillMark()
      mark.token = json.value("token")
      mark.isDone = json.value("done") ?? false
      mark.counts = BackfillCounts(json: json)
      self = .mark(run: run, slice: slice, mark)
    case "wish":
      guard let run: String = json.value("run"), let at: Timestamp = json.value("at"),
        let verb = (json.value("wish") as String?).flatMap({ RunVerb(rawValue: $0) })
      else { return nil }
      self = .control(run: run, verb, by: json.value("by") ?? "", at: at)
    case "follow":
      guard let bundleId: String = json.value("bundleId"), let environment: String = json.value("environment"),
        let through: Timestamp = json.value("through")
      else { return nil }
      self = .follow(
        BackfillTarget(bundleId: bundleId, environment: AppStoreEnvironment(rawValue: environment)),
        FollowMark(through: through, sweptAt: json.value("sweptAt") ?? through))
    default: return nil
    }
  }

  func record(prefix: String) -> ProducerRecord {
    ProducerRecord(
      topic: prefix + Self.topic, partition: 0, key: Array(key.utf8), value: json.serialized(),
      headers: [RecordHeader("content-type", "application/json")])
  }
}

/// The content of the topic.
package struct BackfillTable: Sendable, Hashable {
  private var byID: [String: BackfillRun] = [:]
  private var marks: [String: [Int: BackfillMark]] = [:]
  private var controls: [String: RunVerb] = [:]
  private var follows: [BackfillTarget: FollowMark] = [:]

  /// An empty topic.
  package init() {}

  /// All runs, oldest first.
  package var runs: [BackfillRun] { byID.values.sorted { ($0.startedAt, $0.id) < ($1.startedAt, $1.id) } }

  /// The run with the given ID.
  package subscript(id: String) -> BackfillRun? { byID[id] }

  /// The progress of each started slice of a run, by slice number.
  package func marks(of run: String) -> [Int: BackfillMark] { marks[run] ?? [:] }

  /// The operator's latest request for a run.
  package func control(on run: String) -> RunVerb? { controls[run] }

  /// The progress of `--follow` in a history.
  package func follow(_ target: BackfillTarget) -> FollowMark? { follows[target] }

  /// Adds the next record. Records of unknown kinds are ignored.
  package mutating func fold(_ record: ConsumerRecord) {
    guard let value = record.value else {
      forget(String(decoding: record.key ?? [], as: UTF8.self))
      return
    }
    guard case .success(let json) = Result(catching: { try JSONObject(parsing: value) }) else { return }
    switch BackfillRecord(json) {
    case .run(let run)?:
      // A process that was unreachable for long does not know yet that the run has a new owner.
      if run.claim >= byID[run.id]?.claim ?? 0 { byID[run.id] = run }
    case .mark(let run, let slice, let mark)?: marks[run, default: [:]][slice] = mark
    case .control(let run, let verb, _, _)?: controls[run] = verb
    case .follow(let target, let mark)?: follows[target] = mark
    case nil: break
    }
  }

  private mutating func forget(_ key: String) {
    let parts = key.split(separator: "/", maxSplits: 2).map(String.init)
    guard parts.count > 1 else { return }
    switch parts[0] {
    case "run":
      if parts.count == 3, byID[parts[1]]?.claim == Int(parts[2]) { byID[parts[1]] = nil }
    case "slice":
      if parts.count == 3, let slice = Int(parts[2]) { marks[parts[1]]?[slice] = nil }
    case "wish": controls[parts[1]] = nil
    default: break
    }
  }
}
