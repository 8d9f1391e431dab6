// Observes events and the entitlements table as an outside reader, from the beginning.

import AppStore
import KafkaClient
import MillraceWorker
import Processes
import Synchronization

final class Observer: Sendable {
  static let extensionEvents = "appstore.events.renewal-extensions"
  static let refundEvents = "appstore.events.refunds"
  static let entitlements = "appstore.entitlements"

  /// An event in Kafka.
  struct Event: Sendable {
    var worker: String
    var name: String
    var id: String
    var supersedes: String?
    var data: JSONObject

    /// The subscription or transaction of the event.
    var subject: String? {
      data["transactionId"]?.text ?? data["originalTransactionId"]?.text
    }
  }

  private struct State {
    var events: [Event] = []
    var ended: Set<String> = []
    var names: [String: Int] = [:]
    var table: [String: JSONObject] = [:]
    var unreadable: [String] = []
  }

  private let state = Mutex(State())

  /// The events in the order of their arrival, including duplicates.
  var events: [Event] { state.withLock { $0.events } }
  /// The subscriptions whose failure has an event.
  var ended: Set<String> { state.withLock { $0.ended } }
  /// The number of events by name.
  var names: [String: Int] { state.withLock { $0.names } }
  /// The entitlements table.
  var table: [String: JSONObject] { state.withLock { $0.table } }
  /// The records that do not match their topic's format.
  var unreadable: [String] { state.withLock { $0.unreadable } }

  /// Reads until cancelled.
  func follow(_ stage: RehearsalEnvironment) async throws {
    let prefix = stage.prefix
    let topics = [Self.extensionEvents, Self.refundEvents, Self.entitlements].map { prefix + $0 }
    try await stage.kafka.follow(try await stage.log.partitions(of: topics)) { page in
      for record in page { self.take(record, of: String(record.topic.dropFirst(prefix.count))) }
    }
  }

  private func take(_ record: ConsumerRecord, of topic: String) {
    let data: JSONObject
    do {
      data = try JSONObject(parsing: record.value ?? [])
    } catch {
      return state.withLock { $0.unreadable.append("\(record.topic)[\(record.partition)]@\(record.offset): \(error)") }
    }
    state.withLock { state in
      guard topic != Self.entitlements else {
        state.table[String(decoding: record.key ?? [], as: UTF8.self)] = data
        return
      }
      let worker = topic == Self.refundEvents ? "refunds" : "renewal-extensions"
      let prefix = "dev.millrace.\(worker)."
      guard let id = record.text("ce_id"), let type = record.text("ce_type"), type.hasPrefix(prefix) else {
        return state.unreadable.append("\(record.topic)[\(record.partition)]@\(record.offset) has no ce_id or ce_type")
      }
      let event = Event(
        worker: worker, name: String(type.dropFirst(prefix.count)), id: id, supersedes: record.text("ce_supersedes"),
        data: data)
      state.events.append(event)
      state.names[event.name, default: 0] += 1
      if event.name.hasPrefix("extension."), let subject = event.subject { state.ended.insert(subject) }
    }
  }
}

extension JSON {
  /// The text of a string.
  var text: String? { if case .string(let text) = self { text } else { nil } }
}
