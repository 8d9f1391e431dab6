// The state of alerts on `millrace.control`, so that a process that restarts posts nothing again. A record is written before
// the first attempt, so that every attempt has the same `webhook-id`, and after the receiver has taken the post.

internal import AppStore
internal import KafkaClient
internal import MillraceRecords

/// The record of an episode.
enum AlertRecord {
  private static let kind = "alert"

  private static func key(_ id: String) -> String { "\(kind)/\(id)" }

  static func record(of episode: AlertEpisode, to topic: String) -> ProducerRecord {
    var json = JSONObject([.init(key: "kind", value: .string(kind))] + episode.condition.json.members)
    json["since"] = .string(episode.since.rfc3339)
    if let grown = episode.grownAt { json["grown"] = .string(grown.rfc3339) }
    json["posted"] = .bool(episode.isPosted)
    if let count = episode.condition.count { json["count"] = .integer(Int64(count)) }
    return ProducerRecord(
      topic: topic, partition: 0, key: Array(key(episode.condition.id).utf8), value: json.serialized(),
      headers: [RecordHeader("content-type", "application/json")])
  }

  static func tombstone(of episode: AlertEpisode, on topic: String) -> ProducerRecord {
    ProducerRecord(topic: topic, partition: 0, key: Array(key(episode.condition.id).utf8), value: nil)
  }

  /// Reads the episode of a record; nil for other kinds, and for conditions that only a later version knows.
  static func episode(_ value: [UInt8]) throws -> AlertEpisode? {
    let json = try JSONObject(parsing: value)
    guard json["kind"] == .string(kind), case .string(let name)? = json["condition"],
      let condition = AlertCondition.Kind(rawValue: name), case .string(let subject)? = json["of"],
      case .string(let what)? = json["detail"], case .string(let remedy)? = json["do"],
      case .string(let text)? = json["since"], let since = Timestamp(rfc3339: text)
    else { return nil }
    let count: Int? = if case .integer(let count)? = json["count"] { Int(clamping: count) } else { nil }
    let grown: Timestamp? = if case .string(let text)? = json["grown"] { Timestamp(rfc3339: text) } else { nil }
    return AlertEpisode(
      condition: AlertCondition(kind: condition, subject: subject, what: what, remedy: remedy, count: count),
      since: since, grownAt: grown, isTried: true, isPosted: json["posted"] == .bool(true))
  }

  /// Returns the episodes on the topic. A process that was paused during a post can write that it has succeeded after
  /// another one has posted the end.
  static func episodes(in log: any RecordLog, _ topic: String) async throws -> [AlertEpisode] {
    let episodes = try await log.fold(
      TopicPartition(topic: topic, partition: 0), into: (of: [String: AlertEpisode](), ends: [String: Timestamp]())
    ) { episodes, page in
      for record in page {
        guard let key = record.key.map({ String(decoding: $0, as: UTF8.self) }), key.hasPrefix("\(kind)/") else {
          continue
        }
        guard let value = record.value else {
          episodes.of[key] = nil
          episodes.ends[key] = record.timestamp.map { Timestamp(millisecondsSince1970: $0) }
          continue
        }
        do {
          let episode = try episode(value)
          let isOver = episode.map { episode in episodes.ends[key].map { episode.since < $0 } ?? false } ?? true
          episodes.of[key] = isOver ? nil : episode
        } catch {
          // A damaged record of an alert is as good as none: the condition is posted again.
          episodes.of[key] = nil
        }
      }
    }.of
    return episodes.values.sorted { $0.condition.id < $1.condition.id }
  }
}
