// The post of an event: a CloudEvent in structured JSON mode, signed as Standard Webhooks describes.

package import AppStore
package import AppStoreServerAPI
internal import MillraceCore
internal import MillraceTime
package import MillraceWorker

extension PublishedEvent {
  /// The event as a CloudEvent in structured JSON mode. `data` has the bytes that the worker published.
  var structured: [UInt8] {
    var envelope: JSONObject = [
      "specversion": "1.0", "id": .string(id), "source": .string(source), "type": .string(type),
      "subject": .string(key),
    ]
    envelope["time"] = time.map { .string($0.rfc3339) }
    envelope["datacontenttype"] = "application/json"
    for attribute in extensions { envelope[attribute.name] = .string(attribute.value) }
    return envelope.serialized().dropLast() + Array(#","data":"#.utf8) + bytes + [UInt8(ascii: "}")]
  }
}

extension Endpoint {
  /// Posts an event, and classifies the response.
  /// - Parameters:
  ///   - now: The real time.
  ///   - limit: How long to wait for the answer, in real time.
  /// - Throws: `CancellationError`.
  package func post(_ event: PublishedEvent, now: Timestamp, limit: Duration) async throws -> ReceiverReply {
    let (request, exchange) = (request(event, now: now), exchange)
    let reply = try await MillraceClock.system.result(within: limit) { await ReceiverReply.of(request, by: exchange) }
    try Task.checkCancellation()
    return reply ?? .failed(code: "timeout", detail: "no answer within \(DurationText.text(limit))")
  }

  /// Returns the signed post of an event. `webhook-id` is the event's id, so it is the same in every attempt.
  package func request(_ event: PublishedEvent, now: Timestamp) -> ExchangeRequest {
    let body = event.structured
    var headers: [APIHeaders.Field] = [
      .init(name: "content-type", value: "application/cloudevents+json"),
      .init(name: "user-agent", value: "millrace-worker/\(MillraceVersion.current)"),
    ]
    headers += signature.headers(id: event.id, time: now.millisecondsSince1970 / 1_000, body: body).map {
      .init(name: $0.name, value: $0.value)
    }
    if let trace = event.traceParent { headers.append(.init(name: "traceparent", value: "\(trace)")) }
    return ExchangeRequest(method: .post, url: url, headers: APIHeaders(headers), body: body)
  }
}

extension HTTPWorkerMetrics {
  /// Counts a post of an event.
  func ended(_ reply: ReceiverReply, in time: Duration) {
    switch reply {
    case .answered(_, status: 410, _): ended("event", "gone", status: 410, in: time)
    case .answered(.taken, let status, _): ended("event", "done", status: status, in: time)
    case .answered(.later("busy", _), let status, _): ended("event", "later", status: status, in: time)
    case .answered(.later, let status, _): ended("event", "failed", status: status, in: time)
    case .answered(.refused, let status, _): ended("event", "refused", status: status, in: time)
    case .failed: ended("event", "failed", status: nil, in: time)
    }
  }
}
