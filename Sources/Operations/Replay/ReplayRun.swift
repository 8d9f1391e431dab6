// A run as people, scripts and the console see it: folded from `millrace.operations`. Pure.

public import AppStore
public import Kafka
public import Millrace

/// One replay with all its parts.
public struct ReplayRun: Sendable, Hashable {
  /// Where it stands.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// Parts go on, or wait for who carries them out.
    case running
    /// An operator lets it wait.
    case paused
    /// An operator ended it; its parts have not all heard of it yet.
    case stopping
    /// An operator ended it.
    case stopped
    /// All parts are done.
    case done
    /// All parts are over, and at least one could not be done.
    case failed
    /// The parts that were asked for are over, and others never were: whoever began the run died while it did.
    case incomplete
  }

  /// One partition.
  public struct Part: Sendable, Hashable {
    /// The partition.
    public var partition: TopicPartition
    /// What is looked at, the last one excluded.
    public var offsets: Range<Int64>
    /// The next offset.
    public var next: Int64
    /// Records sent.
    public var sent: Int64 = 0
    /// Whether it is over.
    public var isOver = false
    /// Whether an operator ended it.
    public var isStopped = false
    /// Why it could not be done.
    public var failure: String?
  }

  /// Names it; `ce_replayid` of what it sent.
  public var id: String
  /// Where copies go.
  public var target: ReplayRequest.Target
  /// Who began it.
  public var by: String
  /// Why.
  public var why: String
  /// Whether handlers run again.
  public var isReapply: Bool
  /// When it began.
  public var startedAt: Timestamp
  /// When it was last heard of.
  public var heardAt: Timestamp
  /// Which records.
  public var selection: RecordSelection
  /// Records a second at most.
  public var rate: Int?
  /// Its parts, as far as they were asked for.
  public var parts: [Part] = []
  /// How many parts it was to have when it began.
  public var declared = 0
  var word: RunControl.Verb?

  /// Where it stands.
  public var state: State {
    if isOver {
      if parts.contains(where: { $0.failure != nil }) { return .failed }
      return missing > 0 || parts.contains(where: \.isStopped) ? .stopped : .done
    }
    if parts.allSatisfy(\.isOver) { return .incomplete }
    switch word {
    case .pause?: return .paused
    case .stop?: return .stopping
    case .resume?, nil: return .running
    }
  }

  /// Parts that nobody was asked for.
  public var missing: Int { max(0, declared - parts.count) }
  /// Whether nothing more will come, and nothing is left to decide.
  public var isOver: Bool { parts.allSatisfy(\.isOver) && (missing == 0 || word == .stop) }
  /// Records sent.
  public var sent: Int64 { parts.reduce(0) { $0 + $1.sent } }
  /// Offsets to look at.
  public var offsets: Int64 { parts.reduce(0) { $0 + Int64($1.offsets.count) } }
  /// Offsets that were looked at.
  public var offsetsDone: Int64 { parts.reduce(0) { $0 + ($1.next - $1.offsets.lowerBound) } }
  /// Why parts could not be done.
  public var failures: [String] { parts.compactMap { part in part.failure.map { "\(part.partition): \($0)" } } }

  /// How much longer it takes at the pace of so far; nil where that cannot be said.
  public func estimate(now: Timestamp) -> Duration? {
    guard state == .running, offsetsDone > 0, now > startedAt else { return nil }
    return (now - startedAt) * (Double(offsets - offsetsDone) / Double(offsetsDone))
  }

  /// The run as a JSON object.
  public var json: JSONObject {
    var json: JSONObject = ["run": .string(id), "state": .string(state.rawValue)]
    switch target {
    case .worker(let name): json["worker"] = .string(name)
    case .topic(let name): json["toTopic"] = .string(name)
    }
    json["by"] = .string(by)
    json.set("why", why.isEmpty ? nil : why)
    if isReapply { json["reapply"] = true }
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

  /// One line, without a line feed.
  public var jsonLine: String { String(decoding: json.serialized(), as: UTF8.self) }
}

extension ReplayRun: Reportable {
  /// The columns of ``row``.
  public static let columns = [
    TextColumn("BEGAN"), TextColumn("STATE"), TextColumn("TO"), TextColumn("SENT", alignment: .right),
    TextColumn("READ", alignment: .right), TextColumn("BY"), TextColumn("RUN"), TextColumn("SELECTION"),
  ]

  /// One line of a list.
  public var row: [TextCell] {
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

  /// A bar with an estimate: `████░░ 40 %, 1200 sent, about 3 min`.
  public func bar(now: Timestamp, width: Int, usesColor: Bool) -> String {
    let bar = ProgressBar(parts: [.init(count: offsetsDone, symbol: "█", style: .green)], total: offsets)
    let percent = offsets == 0 ? 100 : offsetsDone * 100 / offsets
    let rest = estimate(now: now).map { ", about \(HumanText.roundedUp($0))" } ?? ""
    let state = state == .running ? rest : ", \(state.rawValue)"
    return bar.text(width: max(10, min(30, width - 40)), usesColor: usesColor) + " \(percent) %, \(sent) sent\(state)"
  }

  /// How it ended, in a sentence.
  public var sentence: String {
    switch state {
    case .done: "\(HumanText.count(Int(sent), "record")) sent."
    case .failed: "\(sent) sent; not done: \(failures.joined(separator: "; "))."
    case .incomplete:
      "\(sent) sent; \(missing) of \(declared) partitions were never asked for, whoever began it died meanwhile."
        + " millrace replay stop \(id) closes it; then begin it again."
    case .stopped: "stopped after \(HumanText.count(Int(sent), "record"))."
    case .paused: "paused after \(HumanText.count(Int(sent), "record")); millrace replay resume \(id) goes on."
    case .running, .stopping: "\(sent) sent so far; run \(id) goes on."
    }
  }

  /// How a command that followed it ends.
  public var status: CommandStatus { state == .done || state == .stopped ? .success : .failure }
}

/// All runs, folded from the topic in its order.
public struct RunBook: Sendable {
  private var byID: [String: ReplayRun] = [:]
  private var order: [String] = []
  // Which run and part a command is.
  private var places: [String: (run: String, part: Int)] = [:]
  private let limit: Int
  /// Records of the topic that are no commands.
  public private(set) var passedOver = PassedOver()

  /// No runs.
  /// - Parameter limit: How many are kept, those that began last.
  public init(limit: Int = .max) { self.limit = limit }

  /// Takes the next record in.
  /// - Returns: the run that it changed; nil: none.
  @discardableResult
  public mutating func fold(_ record: ConsumerRecord) -> String? {
    switch passedOver.read(record) {
    case .command(let command)?: return fold(command)
    case .result(let result)?: return fold(result)
    case .control(let control)?:
      guard let run = byID[control.run], run.word != .stop else { return nil }
      byID[control.run]?.word = control.verb
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

  /// The runs, those that began last at the end.
  public var runs: [ReplayRun] { order.compactMap { byID[$0] } }

  /// A run by its id.
  public subscript(id: String) -> ReplayRun? { byID[id] }

  /// A run by its id or the first characters of it.
  /// - Throws: ``OperationError`` where none or several begin so.
  public func run(named name: String) throws(OperationError) -> ReplayRun {
    if let run = byID[name] { return run }
    let alike = order.filter { !name.isEmpty && $0.hasPrefix(name) }
    if let only = alike.first, alike.count == 1, let run = byID[only] { return run }
    throw OperationError(
      .usage, alike.isEmpty ? "no such run" : "several runs begin so", at: name,
      remedy: "copy an id from millrace replay list")
  }
}
