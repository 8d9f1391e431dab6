// From items of a history to records in Kafka: judged and written as if Apple had posted them just now. Nothing is
// dropped: what cannot be believed came from Apple all the same, asked with our key, so somebody should look at it.

internal import AppStore
internal import AppStoreServerAPI
internal import Clocks
internal import Kafka
internal import Millrace

/// Writes what histories hold.
struct HistoryPublisher: Sendable {
  /// What became of a page's items, by notification type and by reason.
  struct Outcome: Sendable, Hashable {
    var published: [String: Int] = [:]
    var quarantined: [Refusal.Reason: Int] = [:]

    var publishedCount: Int { published.values.reduce(0, +) }
    var quarantinedCount: Int { quarantined.values.reduce(0, +) }
  }

  let admission: NotificationAdmission
  let router: NotificationRouter
  /// `millrace.quarantine`, by its name in Kafka.
  let quarantine: String
  let writer: any LogWriter
  let clock: MillraceClock

  private static let firstPause = Duration.seconds(1)
  private static let longestPause = Duration.seconds(30)

  /// Returns once Kafka has every item, in a topic of notifications or in the quarantine.
  /// - Throws: `KafkaError`: perhaps some are there, and the page is to be fetched again; `CancellationError`.
  func publish(_ items: [UnverifiedNotification]) async throws -> Outcome {
    var outcome = Outcome()
    var records: [ProducerRecord] = []
    records.reserveCapacity(items.count)
    let receivedAt = clock.wallTime
    let trace = TraceParent.continuing(nil)
    for item in items {
      let jws = item.jws.map { Array($0.utf8) }
      switch try await judge(jws) {
      case .success(let admitted):
        records.append(
          admitted.record(origin: .history, traceParent: trace, receivedAt: receivedAt, router: router).producerRecord)
        outcome.published[admitted.typeLabel, default: 0] += 1
      case .failure(let refusal):
        let evidence = QuarantineRecord(
          value: jws ?? item.json.serialized(), version: .v2, reason: refusal.reason, receivedAt: receivedAt)
        records.append(evidence.producerRecord(topic: quarantine))
        outcome.quarantined[refusal.reason, default: 0] += 1
      }
    }
    if !records.isEmpty { _ = try await writer.send(contentsOf: records) }
    return outcome
  }

  /// The ingress's own judgement. Whether a certificate was revoked may not be known for a moment: Apple cannot be asked to
  /// send it again here, so that is waited for.
  private func judge(_ jws: [UInt8]?) async throws -> Result<AdmittedNotification, Refusal> {
    guard let jws else { return .failure(Refusal(.malformed, .malformed, "no signedPayload")) }
    var pause = Self.firstPause
    while true {
      let verdict = await verdict(jws)
      guard case .failure(let refusal) = verdict, refusal.reason == .revocationUnknown else { return verdict }
      try await clock.sleep(until: clock.now.advanced(by: pause))
      pause = min(pause * 2, Self.longestPause)
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
