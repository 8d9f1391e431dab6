// Observes events and the entitlements table as an outside reader, from the beginning.

import AppStore
import KafkaClient
import MillraceRecords
import ScenarioRig

struct RehearsalEvents: TopicView {
  private static let refundEvents = "appstore.events.refunds"
  private static let entitlements = "appstore.entitlements"
  static let topics = ["appstore.events.renewal-extensions", refundEvents, entitlements]

  /// An event in Kafka.
  struct Event: Sendable {
    var worker: String
    var name: String
    var id: String
    var supersedes: String?
    var data: JSONObject

    /// The subscription or transaction of the event.
    var subject: String? { data.text("transactionId") ?? data.text("originalTransactionId") }
  }

  /// The prefix of every topic name.
  let prefix: String
  /// The events in the order of their arrival, including duplicates.
  private(set) var events: [Event] = []
  /// The subscriptions whose failure has an event.
  private(set) var ended: Set<String> = []
  /// The number of events by name.
  private(set) var names: [String: Int] = [:]
  /// The entitlements table.
  private(set) var table: [String: JSONObject] = [:]
  /// The records that do not match their topic's format.
  private(set) var unreadable: [String] = []

  init(prefix: String) { self.prefix = prefix }

  mutating func add(_ record: ConsumerRecord) {
    let topic = record.topic.dropFirst(prefix.count)
    let data: JSONObject
    do {
      data = try JSONObject(parsing: record.value ?? [])
    } catch {
      return unreadable.append("\(record.topic)[\(record.partition)]@\(record.offset): \(error)")
    }
    guard topic != Self.entitlements else {
      table[String(decoding: record.key ?? [], as: UTF8.self)] = data
      return
    }
    let worker = topic == Self.refundEvents ? "refunds" : "renewal-extensions"
    let prefix = "dev.millrace.\(worker)."
    guard let id = record.text("ce_id"), let type = record.text("ce_type"), type.hasPrefix(prefix) else {
      return unreadable.append("\(record.topic)[\(record.partition)]@\(record.offset) has no ce_id or ce_type")
    }
    let event = Event(
      worker: worker, name: String(type.dropFirst(prefix.count)), id: id, supersedes: record.text("ce_supersedes"),
      data: data)
    events.append(event)
    names[event.name, default: 0] += 1
    if event.name.hasPrefix("extension."), let subject = event.subject { ended.insert(subject) }
  }
}
