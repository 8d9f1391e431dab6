// What a run would send, counted without sending: `--dry-run`, and where `--limit` ends.

public import AppStore
internal import Kafka
internal import Millrace
internal import Synchronization

/// How many records a plan chooses, and what they are.
public struct ReplaySurvey: Sendable, Hashable {
  /// Records that were looked at.
  public var read = 0
  /// Records that are chosen.
  public var chosen = 0
  /// How many are chosen of each type and subtype.
  public var types: [String: Int] = [:]
  /// The first few of them.
  public var samples: [RecordView] = []

  static let sampleCount = 5

  /// Nothing looked at.
  public init() {}

  mutating func take(_ count: Int, chosen records: some Collection<ConsumerRecord>) {
    read += count
    chosen += records.count
    for record in records { types[Self.type(of: record), default: 0] += 1 }
    for record in records.prefix(Self.sampleCount - min(Self.sampleCount, samples.count)) {
      samples.append(RecordView(record))
    }
  }

  /// What was looked at elsewhere.
  mutating func add(_ other: ReplaySurvey) {
    read += other.read
    chosen += other.chosen
    types.merge(other.types, uniquingKeysWith: +)
    samples += other.samples.prefix(Self.sampleCount - min(Self.sampleCount, samples.count))
  }

  private static func type(of record: ConsumerRecord) -> String {
    func text(_ name: String) -> String? {
      record.headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
    let type = text("ce_type")?.split(separator: ".").last.map(String.init) ?? "no type"
    return text("ce_subtype").map { "\(type)/\($0)" } ?? type
  }

  /// One line: `12 of 4000 records would be sent`.
  public var sentence: String { "\(chosen) of \(HumanText.count(read, "record")) would be sent." }

  /// The survey for a terminal: counts by type, then samples.
  public func lines(lineWidth: Int?, usesColor: Bool) -> [String] {
    let rows = types.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { type, count in
      [TextCell(type), TextCell("\(count)")]
    }
    let counts = TextTable.lines(
      [TextColumn("TYPE"), TextColumn("RECORDS", alignment: .right)], rows: rows, lineWidth: lineWidth,
      usesColor: usesColor)
    let shown = TextTable.lines(
      [TextColumn("SAMPLE"), TextColumn("WRITTEN"), TextColumn("TYPE"), TextColumn("APP"), TextColumn("ID")],
      rows: samples.map { view in
        [
          TextCell("\(view.topic)[\(view.partition)]@\(view.offset)", .cyan),
          TextCell(view.writtenAt.map { RecordView.seconds($0) } ?? "", .dim),
          TextCell([view.type, view.subtype].compactMap { $0 }.joined(separator: "/")), TextCell(view.bundleId ?? ""),
          TextCell(view.id ?? ""),
        ]
      }, lineWidth: lineWidth, usesColor: usesColor)
    return counts + (counts.isEmpty || shown.isEmpty ? [] : [""]) + shown + (shown.isEmpty ? [] : [""]) + [sentence]
  }

  /// One object for a script: the samples say what they are, without payloads.
  public var jsonLine: String {
    let types = JSONObject(
      self.types.sorted { $0.key < $1.key }.map { .init(key: $0.key, value: .integer(Int64($0.value))) })
    let json: JSONObject = [
      "dryRun": true, "read": .integer(Int64(read)), "chosen": .integer(Int64(chosen)), "types": .object(types),
      "samples": .array(samples.map { .object($0.jsonWithoutPayload) }),
    ]
    return String(decoding: JSON.object(json).serialized(), as: UTF8.self)
  }
}

extension RecordView {
  /// The record as JSON without anything that says whose purchase it is.
  public var jsonWithoutPayload: JSONObject {
    var json = json
    for name in [
      "payload", "transaction", "renewalInfo", "appTransaction", "text", "price", "currency", "key", "subject",
      "transactionId", "originalTransactionId",
    ] {
      json[name] = nil
    }
    return json
  }
}

extension ReplayPlanner {
  private actor Counter {
    var survey = ReplaySurvey()
    /// Where the limit is reached; what is behind is not chosen any more.
    var end: Int64?
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// - Returns: whether more are wanted.
    func take(_ page: [ConsumerRecord], _ matcher: RecordMatcher) -> Bool {
      var chosen = page.filter { matcher.matches($0) }
      if survey.chosen + chosen.count >= limit {
        chosen = Array(chosen.prefix(limit - survey.chosen))
        end = chosen.last.map { $0.offset + 1 } ?? page.first?.offset
      }
      survey.take(page.count, chosen: chosen)
      return end == nil
    }
  }

  private struct Enough: Error {}

  private static let pageSize = 1_000

  /// Reads what a plan would read.
  /// - Returns: the counts, and the plan as far as `limit` goes.
  func survey(_ plan: ReplayPlan) async throws -> (ReplaySurvey, ReplayPlan) {
    if let limit = plan.request.limit { return try await limited(plan, to: limit) }
    let matcher = RecordMatcher(plan.request.selection)
    let surveys = Mutex<[TopicPartition: ReplaySurvey]>([:])
    let ranges = plan.parts.map { ($0.partition, $0.offsets) }
    try await log.scan(
      Dictionary(ranges) { first, _ in first }, where: matcher.headers, upTo: Self.pageSize
    ) { page in
      let chosen = page.records.filter { matcher.matches($0) }
      surveys.withLock { $0[page.partition, default: ReplaySurvey()].take(page.read, chosen: chosen) }
    }
    var sum = ReplaySurvey()
    // Which samples are shown does not depend on which partition was the quickest.
    for (_, survey) in surveys.withLock({ $0 }).sorted(by: { $0.key < $1.key }) { sum.add(survey) }
    return (sum, plan)
  }

  /// One partition after the other, as far as the limit goes.
  private func limited(_ plan: ReplayPlan, to limit: Int) async throws -> (ReplaySurvey, ReplayPlan) {
    let counter = Counter(limit: limit)
    let matcher = RecordMatcher(plan.request.selection)
    var limited = plan
    limited.parts = []
    for part in plan.parts {
      do {
        try await log.scan(
          part.partition, from: .offset(part.offsets.lowerBound), to: .offset(part.offsets.upperBound),
          upTo: Self.pageSize
        ) { page in
          if await !counter.take(page, matcher) { throw Enough() }
        }
        limited.parts.append(part)
      } catch is Enough {
        if let end = await counter.end, end > part.offsets.lowerBound {
          limited.parts.append(.init(partition: part.partition, offsets: part.offsets.lowerBound..<end))
        }
        break
      }
    }
    return (await counter.survey, limited)
  }
}
