// A replay as people, scripts and the console see it, folded from `millrace.operations`. Pure.

package import AppStore
package import KafkaClient
package import MillraceRecords
package import MillraceWorker

/// A replay with all its parts.
package struct ReplayRun: Sendable, Hashable {
  /// The state of a replay.
  package enum State: String, Sendable, Hashable, CaseIterable {
    /// Parts are running, or wait for the process that carries them out.
    case running
    /// An operator paused it.
    case paused
    /// An operator stopped it, and some parts have not reacted yet.
    case stopping
    /// An operator stopped it.
    case stopped
    /// All parts are done.
    case done
    /// All parts are over, and at least one failed.
    case failed
    /// The commands of some parts are missing because the process that started the run died. All other parts are over.
    case incomplete
  }

  /// A part: the offsets of one partition.
  package struct Part: Sendable, Hashable {
    /// The partition.
    package var partition: TopicPartition
    /// The offsets to read; the upper bound is exclusive.
    package var offsets: Range<Int64>
    /// The next offset to read.
    package var next: Int64
    /// The number of records sent.
    package var sent: Int64 = 0
    /// Whether the part is over.
    package var isOver = false
    /// Whether an operator stopped it.
    package var isStopped = false
    /// The reason for a failure.
    package var failure: String?
  }

  /// The run's ID, which is also the `ce_replayid` of the copies.
  package var id: String
  /// The target of the copies.
  package var target: ReplayRequest.Target
  /// The operator who started it.
  package var by: String
  /// The operator's reason.
  package var why: String
  /// Whether handlers run again on handled notifications.
  package var isReapply: Bool
  /// The start time.
  package var startedAt: Timestamp
  /// The time of the last activity.
  package var heardAt: Timestamp
  /// The selected records.
  package var selection: RecordSelection
  /// The maximum number of records per second.
  package var rate: Int?
  /// The parts whose commands exist.
  package var parts: [Part] = []
  /// The number of parts that the run was started with.
  package var declared = 0
  /// The last instruction of an operator.
  package var verb: RunVerb?
  /// The operator who gave it.
  package var steeredBy: String?

  /// The current state.
  package var state: State {
    if isOver {
      if parts.contains(where: { $0.failure != nil }) { return .failed }
      return missing > 0 || parts.contains(where: \.isStopped) ? .stopped : .done
    }
    if parts.allSatisfy(\.isOver) { return .incomplete }
    switch verb {
    case .pause?: return .paused
    case .stop?: return .stopping
    case .resume?, nil: return .running
    }
  }

  /// The number of parts without a command.
  package var missing: Int { max(0, declared - parts.count) }
  /// Whether the run is over and needs no decision.
  package var isOver: Bool { parts.allSatisfy(\.isOver) && (missing == 0 || verb == .stop) }
  /// The number of records sent.
  package var sent: Int64 { parts.reduce(0) { $0 + $1.sent } }
  /// The number of offsets to read.
  package var offsets: Int64 { parts.reduce(0) { $0 + Int64($1.offsets.count) } }
  /// The number of offsets read so far.
  package var offsetsDone: Int64 { parts.reduce(0) { $0 + ($1.next - $1.offsets.lowerBound) } }
  /// The failures of parts.
  package var failures: [String] { parts.compactMap { part in part.failure.map { "\(part.partition): \($0)" } } }

  /// The estimated remaining time at the current pace; nil if unknown.
  package func estimate(now: Timestamp) -> Duration? {
    guard state == .running, offsetsDone > 0, now > startedAt else { return nil }
    return (now - startedAt) * (Double(offsets - offsetsDone) / Double(offsetsDone))
  }

  /// The run as a JSON object.
  package var json: JSONObject {
    var json: JSONObject = ["run": .string(id), "state": .string(state.rawValue)]
    switch target {
    case .worker(let name): json["worker"] = .string(name)
    case .topic(let name): json["toTopic"] = .string(name)
    }
    json["by"] = .string(by)
    json.set("why", why.isEmpty ? nil : why)
    if isReapply { json["reapply"] = true }
    if let verb { json["\(verb.participle)By"] = steeredBy.map { .string($0) } }
    json["startedAt"] = .string(startedAt.rfc3339)
    json["heardAt"] = .string(heardAt.rfc3339)
    json["selection"] = .object(selection.json)
    json["rate"] = rate.map { .integer(Int64($0)) }
    json["sent"] = .integer(sent)
    json["offsets"] = .integer(offsets)
    json["offsetsDone"] = .integer(offsetsDone)
    json["parts"] = .integer(Int64(parts.count))
    if missing > 0 { json["missingParts"] = .integer(Int64(missing)) }
    if !failures.isEmpty { json["failures"] = .array(failures.map { .string($0) }) }
    return json
  }

  /// The run as one line of JSON, without a line feed.
  package var jsonLine: String { String(decoding: json.serialized(), as: UTF8.self) }
}

extension ReplayRun: Reportable {
  /// The columns of ``row``.
  package static let columns = [
    TextColumn("BEGAN"), TextColumn("STATE"), TextColumn("TO"), TextColumn("SENT", alignment: .right),
    TextColumn("READ", alignment: .right), TextColumn("BY"), TextColumn("RUN"), TextColumn("SELECTION"),
  ]

  /// The cells of one table row.
  package var row: [TextCell] {
    let style: TextStyle =
      switch state {
      case .done: .green
      case .failed, .incomplete: .red
      case .running: .plain
      case .paused, .stopping, .stopped: .yellow
      }
    let percent = offsets == 0 ? 100 : offsetsDone * 100 / offsets
    return [
      TextCell(RecordView.seconds(startedAt), .dim), TextCell(state.rawValue, style), TextCell("\(target)"),
      TextCell("\(sent)"), TextCell("\(percent) %"), TextCell(by), TextCell(id, .cyan), TextCell("\(selection)"),
    ]
  }

  /// A progress bar with an estimate: `████░░ 40 %, 1200 sent, about 3 min`.
  package func bar(now: Timestamp, width: Int, usesColor: Bool) -> String {
    let bar = ProgressBar(parts: [.init(count: offsetsDone, symbol: "█", style: .green)], total: offsets)
    let percent = offsets == 0 ? 100 : offsetsDone * 100 / offsets
    let rest = estimate(now: now).map { ", about \(HumanText.roundedUp($0))" } ?? ""
    let state = state == .running ? rest : ", \(state.rawValue)"
    return bar.text(width: max(10, min(30, width - 40)), usesColor: usesColor) + " \(percent) %, \(sent) sent\(state)"
  }

  /// The result as a sentence.
  package var sentence: String {
    switch state {
    case .done: "\(HumanText.count(Int(sent), "record")) sent."
    case .failed: "\(sent) sent; failed: \(failures.joined(separator: "; "))."
    case .incomplete:
      "\(sent) sent; \(missing) of \(declared) partitions were not started: the command that began the run died."
        + " End it with millrace replay stop \(id), then start a new one."
    case .stopped: "stopped after \(HumanText.count(Int(sent), "record"))."
    case .paused: "paused after \(HumanText.count(Int(sent), "record")); continue with millrace replay resume \(id)."
    case .running, .stopping: "\(sent) sent so far; run \(id) continues."
    }
  }

  /// The exit status of a command that followed the run.
  package var status: CommandStatus { state == .done || state == .stopped ? .success : .failure }
}

/// All runs, folded from the topic.
package struct RunBook: Sendable {
  private var byID: [String: ReplayRun] = [:]
  private var order: [String] = []
  // The run and part of each command.
  private var places: [String: (run: String, part: Int)] = [:]
  private let limit: Int
  /// The skipped records, which are not commands.
  package private(set) var passedOver = PassedOver()

  /// Creates an empty book.
  /// - Parameter limit: The number of runs to keep; the most recent ones are kept.
  package init(limit: Int = .max) { self.limit = limit }

  /// Adds the next record.
  /// - Returns: The ID of the run that it changed; nil if none.
  @discardableResult
  package mutating func fold(_ record: ConsumerRecord) -> String? {
    switch passedOver.read(record) {
    case .command(let command)?: return fold(command)
    case .result(let result)?: return fold(result)
    case .control(let control)?:
      guard let run = byID[control.run], run.verb != .stop else { return nil }
      byID[control.run]?.verb = control.verb
      byID[control.run]?.steeredBy = control.by
      byID[control.run]?.heardAt = control.at
      return control.run
    case nil: return nil
    }
  }

  @discardableResult
  mutating func fold(_ command: OperationCommand) -> String? {
    guard case .replay(let part) = command.action, places[command.id] == nil else { return nil }
    let id = command.replayID
    if byID[id] == nil {
      order.append(id)
      byID[id] = ReplayRun(
        id: id, target: part.target.map { .topic($0) } ?? .worker(command.worker), by: command.by, why: command.why,
        isReapply: part.isReapply, startedAt: command.at, heardAt: command.at, selection: part.selection,
        rate: part.rate, declared: part.parts)
      if order.count > limit { forget(order.removeFirst()) }
    }
    places[command.id] = (id, byID[id]?.parts.count ?? 0)
    byID[id]?.parts.append(
      ReplayRun.Part(
        partition: TopicPartition(topic: part.topic, partition: command.lane), offsets: part.from..<part.to,
        next: part.from))
    return id
  }

  private mutating func forget(_ id: String) {
    byID[id] = nil
    places = places.filter { $0.value.run != id }
  }

  private mutating func fold(_ result: OperationResult) -> String? {
    guard let place = places[result.command], var run = byID[place.run], run.parts.indices.contains(place.part),
      !run.parts[place.part].isOver
    else { return nil }
    run.heardAt = max(run.heardAt, result.at)
    var part = run.parts[place.part]
    part.sent = max(part.sent, result.sent)
    switch result.outcome {
    case .progress(let next): part.next = next
    case .done: (part.next, part.isOver) = (part.offsets.upperBound, true)
    case .stopped(let next): (part.next, part.isOver, part.isStopped) = (next, true, true)
    case .failed(let why): (part.failure, part.isOver) = (why, true)
    }
    run.parts[place.part] = part
    byID[place.run] = run
    return place.run
  }

  /// The runs, ordered by start time.
  package var runs: [ReplayRun] { order.compactMap { byID[$0] } }

  /// The run with the given ID.
  package subscript(id: String) -> ReplayRun? { byID[id] }

  /// Finds a run by its ID or by a unique prefix of it.
  /// - Throws: ``OperationError`` if no run or more than one run matches.
  package func run(named name: String) throws(OperationError) -> ReplayRun {
    try runs.named(name, remedy: "copy an id from millrace replay list") { $0.id }
  }
}
