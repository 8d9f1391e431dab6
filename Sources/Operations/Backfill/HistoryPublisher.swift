// Writes history items to Kafka, verified and routed as if Apple had just posted them. Items that fail verification go
// to the quarantine: Apple returned them to a request with our key, so an operator should look at them.

internal import AppStore
internal import AppStoreServerAPI
internal import MillraceTime
internal import KafkaClient
internal import MillraceRecords
internal import MillraceWorker

/// Writes the items of histories to Kafka.
struct HistoryPublisher: Sendable {
  /// The results for a page's items, by notification type and by reason.
  struct Outcome: Sendable, Hashable {
    var published: [String: Int] = [:]
    var quarantined: [Refusal.Reason: Int] = [:]

    var publishedCount: Int { published.values.reduce(0, +) }
    var quarantinedCount: Int { quarantined.values.reduce(0, +) }
  }

  let admission: NotificationAdmission
  let router: NotificationRouter
  /// The customers whose notifications are not published; nil: there are none.
  let erased: ErasedCustomers?
  /// The name of the quarantine topic in Kafka.
  let quarantine: String
  let writer: any LogWriter
  let clock: MillraceClock
  /// The run that publishes; nil if there is none.
  var run: String?

  /// Returns when Kafka has every item, in a notification topic or in the quarantine.
  /// - Throws: `KafkaError`, after which some items may be in Kafka and the page must be fetched again;
  ///   `CancellationError`.
  func publish(_ items: [UnverifiedNotification]) async throws -> Outcome {
    var outcome = Outcome()
    var records: [ProducerRecord] = []
    records.reserveCapacity(items.count)
    let receivedAt = clock.wallTime
    let trace = TraceParent.continuing(nil)
    let marks = try await erased?.recent() ?? ErasedCustomers.Marks()
    for item in items {
      let jws = item.jws.map { Array($0.utf8) }
      switch try await judge(jws) {
      case .success(let admitted):
        var notification = admitted.record(
          origin: .history, traceParent: trace, receivedAt: receivedAt, router: router)
        notification.event.extensions[AuditRecord.runAttribute] = run
        let record = notification.producerRecord
        guard !marks.include(record.key ?? [], signed: NotificationEnvelope(record.headers).time) else { continue }
        records.append(record)
        outcome.published[admitted.typeLabel, default: 0] += 1
      case .failure(let refusal):
        let evidence = QuarantineRecord(
          value: jws ?? item.json.serialized(), version: .v2, reason: refusal.reason, receivedAt: receivedAt)
        // Apple returned the item to a request with our key, so outside clients cannot fill this partition.
        records.append(evidence.producerRecord(topic: quarantine, in: .genuine))
        outcome.quarantined[refusal.reason, default: 0] += 1
      }
    }
    if !records.isEmpty { _ = try await writer.send(contentsOf: records.map { $0.timed(by: clock) }) }
    return outcome
  }

  /// Verifies an item as the ingress does. If revocation cannot be checked at the moment, this waits: the ingress would
  /// let Apple retry, but here Apple cannot be asked to send the item again.
  private func judge(_ jws: [UInt8]?) async throws -> Result<AdmittedNotification, Refusal> {
    guard let jws else { return .failure(Refusal(.malformed, .malformed, "no signedPayload")) }
    var backoff = Backoff(from: .seconds(1), upTo: .seconds(30))
    while true {
      let verdict = await verdict(jws)
      guard case .failure(let refusal) = verdict, refusal.reason == .revocationUnknown else { return verdict }
      try await clock.sleep(until: clock.now.advanced(by: backoff.next()))
    }
  }

  private func verdict(_ jws: [UInt8]) async -> Result<AdmittedNotification, Refusal> {
    do throws(Refusal) {
      return .success(try await admission.v2(jws: jws))
    } catch {
      return .failure(error)
    }
  }
}
