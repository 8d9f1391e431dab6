// The history of lag and dead letters on `millrace.control`: one record for each five minutes of a day, which the next day
// replaces. Compaction bounds its size, and no process has to delete anything.

internal import AppStore
internal import KafkaClient
internal import MillraceRecords
internal import MillraceTime

/// The lag and the dead letters of all workers at one time.
struct HistorySample: Sendable, Hashable {
  /// The figures of one worker.
  struct Figures: Sendable, Hashable {
    /// The number of offsets that are not committed; nil if it is unknown.
    var lag: Int64?
    /// The number of open dead letters.
    var dead: Int64
  }

  /// Real time.
  var at: Timestamp
  /// The figures by worker.
  var workers: [String: Figures]

  /// The time that one sample stands for.
  static let interval = Duration.seconds(300)
  /// The number of intervals in a day, and so the largest number of records on the topic.
  static let slots: Int64 = 288

  private static let kind = "history"

  /// Returns the number of the interval that contains a time, counted since 1970.
  static func interval(of time: Timestamp) -> Int64 {
    // Rounds down, also before 1970.
    let (quotient, rest) = time.millisecondsSince1970.quotientAndRemainder(dividingBy: intervalMilliseconds)
    return rest < 0 ? quotient - 1 : quotient
  }

  /// Returns when an interval begins.
  static func start(of interval: Int64) -> Timestamp {
    Timestamp(millisecondsSince1970: interval * intervalMilliseconds)
  }

  private static let intervalMilliseconds = interval.components.seconds * 1_000

  /// The record of the sample. Its key is the part of the day.
  func record(to topic: String) -> ProducerRecord {
    var rows: JSONObject = [:]
    for (worker, figures) in workers.sorted(by: { $0.key < $1.key }) {
      var row: JSONObject = [:]
      row["lag"] = figures.lag.map { .integer($0) }
      row["dead"] = .integer(figures.dead)
      rows[worker] = .object(row)
    }
    let json: JSONObject = ["kind": .string(Self.kind), "at": .string(at.rfc3339), "workers": .object(rows)]
    let slot = Self.interval(of: at) % Self.slots
    return ProducerRecord(
      topic: topic, partition: 0, key: Array("\(Self.kind)/\(slot)".utf8), value: json.serialized(),
      headers: [RecordHeader("content-type", "application/json")])
  }

  /// Returns the part of the day that a record is about; nil for other kinds of records.
  static func slot(ofKey key: [UInt8]?) -> Int64? {
    guard let key, let text = String(validating: key, as: UTF8.self), text.hasPrefix("\(kind)/"),
      let slot = Int64(text.dropFirst(kind.utf8.count + 1)), (0..<slots).contains(slot)
    else { return nil }
    return slot
  }

  /// Reads a sample.
  /// - Parameter known: The workers to read. Figures of other workers are passed over.
  /// - Throws: `UnreadableSample`, or the error of the JSON parser.
  init(_ value: [UInt8], of known: Set<String>) throws {
    let json = try JSONObject(parsing: value)
    guard json["kind"] == .string(Self.kind), case .string(let time)? = json["at"], let at = Timestamp(rfc3339: time),
      case .object(let rows)? = json["workers"]
    else { throw UnreadableSample() }
    self.at = at
    workers = [:]
    for (worker, row) in rows.members.map({ ($0.key, $0.value) }) where known.contains(worker) {
      guard case .object(let row) = row, case .integer(let dead)? = row["dead"], dead >= 0 else { continue }
      var figures = Figures(dead: dead)
      if case .integer(let lag)? = row["lag"], lag >= 0 { figures.lag = lag }
      workers[worker] = figures
    }
  }

  init(at: Timestamp, workers: [String: Figures]) { (self.at, self.workers) = (at, workers) }
}

/// A record of the history that another version or another program wrote.
struct UnreadableSample: Error, CustomStringConvertible {
  var description: String { "the sample of the history has no valid `at` and `workers`" }
}
