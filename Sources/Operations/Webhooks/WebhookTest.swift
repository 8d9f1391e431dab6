// `millrace webhooks test`: posts one signed event, and shows the worker's reaction to the answer.

internal import AppStore
internal import AppStoreServerAPI
package import HTTPWorkers
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords
package import MillraceTime
internal import MillraceWorker

/// The post of a test event.
package struct WebhookTest: Sendable {
  /// The reaction to the answer.
  package struct Report: Sendable {
    /// The id of the event.
    package var id: String
    var reply: ReceiverReply
    var time: Duration

    /// Whether the receiver accepted the event.
    package var status: CommandStatus { if case .answered(.taken, _, _) = reply { .success } else { .failure } }

    /// The worker's reaction.
    package var meaning: String {
      switch reply {
      case .answered(_, status: 410, _): "gone: the webhook holds its events until the receiver answers otherwise"
      case .answered(.taken, _, _): "delivered"
      case .answered(.later(let code, let delay), _, _):
        "retry \(code), \(delay.map { "after \(DurationText.text($0))" } ?? "by the schedule")"
      case .answered(.refused, _, _): "retry refused; after refusedAttempts a dead letter"
      case .failed(let code, let detail): "retry \(code) by the schedule: \(detail)"
      }
    }

    private var httpStatus: Int? { if case .answered(_, let status, _) = reply { status } else { nil } }

    /// One JSON object.
    package var jsonLine: String {
      var json: JSONObject = ["id": .string(id)]
      json["status"] = httpStatus.map { .integer(Int64($0)) }
      json["milliseconds"] = .integer(Int64(time / .milliseconds(1)))
      json["meaning"] = .string(meaning)
      return String(decoding: json.serialized(), as: UTF8.self)
    }

    /// Lines for people.
    package var lines: [String] {
      let answer = httpStatus.map { "\($0) after \(Int64(time / .milliseconds(1))) ms" } ?? "no answer"
      return ["\(WebhookTest.type) \(id): \(answer)", TerminalText.safe(meaning)]
    }
  }

  /// The type of test events. No worker publishes it.
  package static let type = "dev.millrace.webhooks.webhook.test"

  /// Returns a test event.
  /// - Parameters:
  ///   - webhook: The webhook's name, which is in the content.
  ///   - id: The event's id.
  static func event(for webhook: String, id: String, at time: Timestamp) throws -> PublishedEvent {
    let attributes = CloudEvent(
      id: id, source: "millrace/webhooks", type: type, subject: "test", time: time, contentType: "application/json")
    let data: JSONObject = ["webhook": .string(webhook)]
    let topic = PublishedEvent.topicPrefix + "webhooks"
    return try PublishedEvent(
      ConsumerRecord(
        topic: topic, partition: 0, offset: 0, timestamp: nil, key: Array("test".utf8), value: data.serialized(),
        headers: attributes.headers), from: topic)
  }

  /// Posts a test event. Nothing is written to Kafka.
  package static func send(to endpoint: Endpoint, webhook: String, clock: MillraceClock) async throws -> Report {
    let event = try event(for: webhook, id: CommandID.new(), at: clock.realTime)
    let start = clock.now
    let reply = try await endpoint.post(event, now: clock.realTime, limit: endpoint.timeout)
    return Report(id: event.id, reply: reply, time: start.duration(to: clock.now))
  }
}
