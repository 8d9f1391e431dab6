// `millrace handler send`: one request to an endpoint, and the worker's reaction to its answer.

internal import AppStore
internal import AppStoreServerAPI
internal import AppStoreSignature
package import AppStoreSigning
package import HTTPWorkers
package import KafkaClient
package import MillraceCore
internal import MillraceRecords
package import MillraceTime
internal import MillraceWorker

/// The position of a record as people write it: `topic[partition]@offset`.
package struct RecordPlace: Sendable, Hashable {
  package var partition: TopicPartition
  package var offset: Int64

  /// Parses `topic[partition]@offset`; nil for any other text.
  package init?(_ text: String) {
    let halves = text.split(separator: "@", omittingEmptySubsequences: false)
    guard halves.count == 2, let offset = Int64(halves[1]), offset >= 0, halves[0].hasSuffix("]"),
      let bracket = halves[0].lastIndex(of: "["), bracket > halves[0].startIndex,
      let partition = Int32(halves[0][halves[0].index(after: bracket)...].dropLast()), partition >= 0
    else { return nil }
    self.partition = TopicPartition(topic: String(halves[0][..<bracket]), partition: partition)
    self.offset = offset
  }
}

/// Sends one request.
package struct HandlerSend {
  private let endpoint: Endpoint
  private let clock: MillraceClock

  package init(_ endpoint: Endpoint, clock: MillraceClock) {
    self.endpoint = endpoint
    self.clock = clock
  }

  /// Returns the kind of sample that a text names: `DID_RENEW` or `EXPIRED/VOLUNTARY`.
  package static func sample(_ text: String) -> SampleKind? {
    SampleKind.all.first { $0.description == text } ?? SampleKind.all.first { $0.type.rawValue == text }
  }

  /// Reads a record and returns the request that a worker would send for it. The notification is verified.
  package static func request(
    of place: RecordPlace, in configuration: MillraceConfiguration, _ samples: HandlerSamples, clock: MillraceClock
  ) async throws -> HandlerRequest {
    let log = try await KafkaLog.connect(try configuration.kafka.outsideClient(), timeout: .seconds(15))
    // An offset beyond the end would be waited for.
    let end = try await log.highWatermarks(of: [place.partition], timeout: .seconds(15))[place.partition]?.upperBound
    guard place.offset < end ?? 0, let record = try await log.record(at: place.offset, of: place.partition) else {
      throw OperationError(
        .failed, "there is no such record",
        at: "\(place.partition.topic)[\(place.partition.partition)]@\(place.offset)",
        remedy: "its retention may have ended; millrace listen --from earliest shows what is there")
    }
    let verifier = try SignedDataVerifier.configured(configuration.trust, clock: clock, revocation: nil)
    let notification = try await NotificationDecoder(verifier: verifier, identities: configuration.identities).decode(
      record, envelope: NotificationEnvelope(record.headers), history: DeliveryHistory(record))
    return try samples.request(
      notification,
      family: NotificationMember.family(
        ofTopic: notification.history.first.topic, prefix: configuration.topics.prefix))
  }

  /// Sends a request.
  /// - Returns: What was sent, the response, and its meaning.
  package func send(_ request: HandlerRequest) async throws -> HandlerExchangeReport {
    let start = clock.now
    let reply = try await endpoint.send(request, now: clock.realTime, limit: endpoint.timeout)
    return HandlerExchangeReport(request: request, reply: reply, time: start.duration(to: clock.now))
  }
}

/// A request to an endpoint and its answer, for people and scripts.
package struct HandlerExchangeReport: Sendable {
  var request: HandlerRequest
  var reply: EndpointReply
  var time: Duration

  /// The worker's reaction.
  package var meaning: String {
    switch reply.answer {
    case .outcome(.results): "the worker commits the outcome"
    case .outcome(.retry(let after, let reason, _)):
      "retry \(reason), \(after.map { "after \(DurationText.text($0))" } ?? "by the schedule")"
    case .outcome(.deadLetter(let reason, let detail)): "dead letter \(reason): \(detail)"
    case .nothing: "nothing to do"
    case .later(let time, _): "again at \(time.rfc3339), without an attempt"
    case .failed(let failure, let detail): "retry \(failure.rawValue) by the schedule: \(detail)"
    case .refused(_, let detail): "dead letter endpoint-refused: \(detail)"
    case .misconfigured(let status): "misconfigured endpoint (\(status)): the circuit opens if other records fail too"
    case .invalid(let detail): "dead letter invalid-outcome: \(detail)"
    }
  }

  /// Whether the endpoint decided.
  package var status: CommandStatus {
    switch reply.answer {
    case .outcome, .nothing, .later, .refused: .success
    case .failed, .misconfigured, .invalid: .failure
    }
  }

  /// One JSON object.
  package var jsonLine: String {
    var json: JSONObject = ["id": .string(request.id), "kind": .string(request.kind.rawValue)]
    json["status"] = reply.response.map { .integer(Int64($0.status)) }
    json["milliseconds"] = .integer(Int64(time / .milliseconds(1)))
    json["meaning"] = .string(meaning)
    json["answer"] = reply.response.flatMap { body($0) }
    return String(decoding: json.serialized(), as: UTF8.self)
  }

  /// Lines for people.
  package var lines: [String] {
    var answer = "no answer"
    if let response = reply.response { answer = "\(response.status) after \(Int64(time / .milliseconds(1))) ms" }
    var lines = ["\(request.kind.rawValue) \(request.id): \(answer)"]
    if let json = reply.response.flatMap({ body($0) }) {
      lines.append(TerminalText.safe(String(decoding: json.serialized(), as: UTF8.self)))
    }
    return lines + [TerminalText.safe(meaning)]
  }

  private func body(_ response: ExchangeAnswer) -> JSON? {
    guard !response.body.isEmpty else { return nil }
    do { return try JSON(parsing: response.body) } catch { return nil }
  }
}
