// The answers about webhooks: the newest deliveries of one, one delivery, and the order to send an event again.

internal import AppStore
internal import Hummingbird
internal import KafkaClient
internal import Logging
internal import MillraceCore
internal import MillraceRecords
internal import MillraceTime
internal import MillraceWorker

extension ConsoleResponder {
  /// Answers `/webhooks/NAME` and `/webhooks/NAME/TOPIC/PARTITION/OFFSET`.
  func webhook(_ path: [String], _ page: PageContext) async throws -> Response {
    let worker = try worker(path)
    guard path.count > 1 else {
      let deliveries = try await lookUp("read the deliveries to \(worker)") { [log, topics] in
        try await DeliveryReader(log: try await log(), topics: topics, worker: worker).recent()
      }
      return Answers.page(
        WebhookView(worker: worker, deliveries: deliveries, now: clock.wallTime, context: page).page)
    }
    let found = try await delivery(path, to: worker)
    return Answers.page(
      DeliveryView(
        worker: worker, delivery: found.delivery, failures: found.failures,
        payload: showsPayloads ? found.record.value.map(Payload.excerpt) : nil,
        token: policy.tokens.token(for: page.visitor.name), now: clock.wallTime, context: page
      ).page)
  }

  func resend(_ path: [String], _ request: Request, _ page: PageContext) async throws -> Response {
    try policy.check(request.head, of: page.visitor)
    let fields = try await form(request)
    try policy.check(request.head, token: fields["token"], of: page.visitor)
    let worker = try worker(path)
    let why = try Self.why(fields)
    let found = try await delivery(path, to: worker).delivery
    guard found.state.canBeResent else {
      throw Denial.malformed("the event cannot be sent again: \(found.state.words)")
    }
    let admission = try await admission()
    defer { admission.end() }
    let service = ResendService(
      log: try await log(), prefix: topics.prefix, worker: worker, clock: clock, user: page.visitor.name)
    guard let run = try await service.resend(found.position, why: why) else { throw Denial.notFound }
    logger.info(
      "event sent to a webhook again",
      metadata: ["worker": "\(worker)", "run": "\(run)", "user": "\(page.visitor.name)"])
    return Answers.page(ResendView(worker: worker, run: run, context: page).page)
  }

  private func worker(_ path: [String]) throws(Denial) -> String {
    guard let name = path.first, path.count == 1 || path.count == 4 else { throw .notFound }
    let worker = WorkerEntry.webhookPrefix + name
    guard topics.webhooks.contains(worker) else { throw .notFound }
    return worker
  }

  private func delivery(
    _ path: [String], to worker: String
  ) async throws -> (delivery: WebhookDelivery, record: ConsumerRecord, failures: FailedPosts) {
    guard path.count == 4, let partition = Int32(path[2]), let offset = Int64(path[3]), offset >= 0, offset < .max
    else {
      throw Denial.notFound
    }
    let position = RecordPosition(topic: path[1], partition: partition, offset: offset)
    let found = try await lookUp("read a delivery to \(worker)") { [log, topics] in
      try await DeliveryReader(log: try await log(), topics: topics, worker: worker).delivery(position)
    }
    guard let found else { throw Denial.notFound }
    return found
  }
}
