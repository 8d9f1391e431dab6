internal import CRDKafka

/// Serves a client's event queue: woken by librdkafka, never by an interval, with a tick a second as a net under a
/// lost wake-up.
struct EventPump {
  let handle: ClientHandle
  let observer: ClientObserver
  /// When it turned last.
  let turns = PumpTurns()

  /// Events served before the task lets others run.
  static let budgetPerTurn = 1024

  /// Serves events until `isFinished` says so after a turn. Runs in a task that is never cancelled: a cancelled
  /// client still has reports to serve, so its cancellation handler shuts it down, which makes `isFinished` true soon.
  /// - Parameters:
  ///   - onTick: called once a second, for queues of the client's own that need the same net.
  ///   - onFatal: called when the client can do nothing more; it should make `isFinished` true soon.
  ///   - onServed: called after a turn that served events, when what they held is freed: a message counts against the
  ///     client's queue until its report is destroyed.
  ///   - onEvent: takes delivery reports, rebalances and commit results; the rest is observed here.
  func run(
    isFinished: () -> Bool, onTick: @escaping @Sendable () -> Void, onFatal: () -> Void, onServed: () -> Void = {},
    onEvent: (OpaquePointer) async -> Void
  ) async {
    let wake = handle.wake
    let ticker = Task {
      while !Task.isCancelled {
        do { try await Task.sleep(for: .seconds(1)) } catch { return }
        wake.signal()
        onTick()
      }
    }
    defer { ticker.cancel() }
    defer { turns.end() }
    while !isFinished() {
      turns.note()
      var served = 0
      while served < Self.budgetPerTurn, let event = rd_kafka_queue_poll(handle.queue, 0) {
        served += 1
        if !observe(event, onFatal) { await onEvent(event) }
        rd_kafka_event_destroy(event)
      }
      if served > 0 { onServed() }
      if served == Self.budgetPerTurn {
        await Task.yield()
      } else if !isFinished() {
        await wake.wait()
      }
    }
  }

  /// True where the event was only to be observed.
  private func observe(_ event: OpaquePointer, _ onFatal: () -> Void) -> Bool {
    switch rd_kafka_event_type(event) {
    case RD_KAFKA_EVENT_LOG:
      var facility: UnsafePointer<CChar>?
      var message: UnsafePointer<CChar>?
      var level: Int32 = 0
      if rd_kafka_event_log(event, &facility, &message, &level) == 0, let facility, let message {
        observer.log(
          .init(level: Int(level), facility: String(cString: facility), message: String(cString: message)))
      }
      return true
    case RD_KAFKA_EVENT_ERROR:
      let error = rd_kafka_event_error(event)
      // The event of a fatal error carries the error behind it; only the client knows that it was fatal.
      if let fatal = handle.fatalError {
        observer.error(fatal)
        onFatal()
      } else {
        let reason = rd_kafka_event_error_string(event).map { String(cString: $0) } ?? ""
        var described = KafkaError(error, operation: "client")
        described.reason = reason
        observer.error(described)
      }
      return true
    case RD_KAFKA_EVENT_STATS:
      guard let text = rd_kafka_event_stats(event) else { return true }
      do {
        observer.statistics(try KafkaStatistics(document: String(cString: text)))
      } catch {
        observer.log(.init(level: 4, facility: "STATS", message: "statistics could not be read: \(error)"))
      }
      return true
    default:
      return false
    }
  }
}
