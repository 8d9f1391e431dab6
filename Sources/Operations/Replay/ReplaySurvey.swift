// Counts the records that a run would send, for `--dry-run` and to find where `--limit` ends.

package import AppStore
internal import MillraceTime
internal import KafkaClient
internal import MillraceRecords
internal import MillraceWorker

/// The number and kinds of the records that a plan selects.
public struct ReplaySurvey: Sendable, Hashable {
  /// The number of records read.
  public var read = 0
  /// The number of records selected.
  public var chosen = 0
  /// The number of selected records by type and subtype.
  package var types: [String: Int] = [:]
  /// The first selected records.
  package var samples: [RecordView] = []

  static let sampleCount = 5

  /// An empty survey.
  package init() {}

  mutating func add(_ count: Int, chosen records: some Collection<ConsumerRecord>) {
    read += count
    chosen += records.count
    for record in records { types[Self.type(of: record), default: 0] += 1 }
    for record in records.prefix(Self.sampleCount - min(Self.sampleCount, samples.count)) {
      samples.append(RecordView(record))
    }
  }

  /// Adds the survey of another partition.
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

  /// The counts as one sentence: `12 of 4000 records would be sent.`
  package var sentence: String { "\(chosen) of \(HumanText.count(read, "record")) would be sent." }

  /// The survey for a terminal: counts by type, followed by samples.
  package func lines(lineWidth: Int?, usesColor: Bool) -> [String] {
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

  /// The survey as one line of JSON. Samples have no payloads.
  package var jsonLine: String {
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
  /// The record as JSON without any data that identifies a purchase.
  package var jsonWithoutPayload: JSONObject {
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
    /// The offset at which the limit is reached. Later records are not selected.
    var end: Int64?
    private let limit: Int
    private let clock: MillraceClock

    init(limit: Int, clock: MillraceClock) { (self.limit, self.clock) = (limit, clock) }

    /// - Returns: Whether to continue.
    func add(_ page: [ConsumerRecord], _ matcher: RecordMatcher) -> Bool {
      var chosen = page.filter { matcher.matches($0, at: $0.time(by: clock)) }
      if survey.chosen + chosen.count >= limit {
        chosen = Array(chosen.prefix(limit - survey.chosen))
        end = chosen.last.map { $0.offset + 1 } ?? page.first?.offset
      }
      survey.add(page.count, chosen: chosen)
      return end == nil
    }
  }

  private struct Enough: Error {}

  /// The number of offsets in which the last record of a part is looked for. The newest ones can be markers of
  /// transactions, and compaction leaves gaps.
  private static let lastOffsets: Int64 = 100

  /// Reads the last record of each part of a plan, by which the topic is recognized later.
  func lastRecords(of plan: ReplayPlan) async throws -> [TopicPartition: RecordFingerprint] {
    let ranges = plan.parts.map { part in
      (
        part.partition,
        max(part.offsets.lowerBound, part.offsets.upperBound - Self.lastOffsets)..<part.offsets.upperBound
      )
    }
    return try await log.fold(Dictionary(ranges) { first, _ in first }, into: [:]) { found, page in
      if let last = page.records.last { found[page.partition] = RecordFingerprint(last) }
    }
  }

  private static let pageSize = 1_000

  /// Reads the records of a plan without sending them.
  /// - Returns: The counts, and the plan cut off at `limit`.
  func survey(_ plan: ReplayPlan) async throws -> (ReplaySurvey, ReplayPlan) {
    if let limit = plan.request.limit { return try await limited(plan, to: limit) }
    let matcher = RecordMatcher(plan.request.selection)
    let ranges = plan.parts.map { ($0.partition, $0.offsets) }
    let surveys = try await log.fold(
      Dictionary(ranges) { first, _ in first }, where: matcher.headers, into: [TopicPartition: ReplaySurvey]()
    ) { surveys, page in
      let chosen = page.records.filter { matcher.matches($0, at: $0.time(by: clock)) }
      surveys[page.partition, default: ReplaySurvey()].add(page.read, chosen: chosen)
    }
    var sum = ReplaySurvey()
    // Sort, so the samples do not depend on the speed of the partitions.
    for (_, survey) in surveys.sorted(by: { $0.key < $1.key }) { sum.add(survey) }
    return (sum, plan)
  }

  /// Reads one partition after the other, up to the limit.
  private func limited(_ plan: ReplayPlan, to limit: Int) async throws -> (ReplaySurvey, ReplayPlan) {
    let counter = Counter(limit: limit, clock: clock)
    let matcher = RecordMatcher(plan.request.selection)
    var limited = plan
    limited.parts = []
    for part in plan.parts {
      do {
        try await log.scan(
          part.partition, from: .offset(part.offsets.lowerBound), to: .offset(part.offsets.upperBound),
          upTo: Self.pageSize
        ) { page in
          if await !counter.add(page, matcher) { throw Enough() }
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
