internal import CRDKafka

/// The poll loop of a client's event queue. librdkafka wakes it; a tick every second covers a lost wake-up.
struct PollLoop {
  let handle: ClientHandle
  let observer: ClientObserver
  /// The time of the last iteration.
  let turns = PollHeartbeat()

  /// The maximum number of events per iteration, after which the task yields.
  static let budgetPerTurn = 1024

  /// Serves events until `isFinished` returns true after an iteration. Run it in a task that is never cancelled: a
  /// cancelled client still has to serve its reports. Its cancellation handler shuts it down, which makes `isFinished`
  /// true soon.
  /// - Parameters:
  ///   - onTick: Called every second, for other queues of the client that may lose a wake-up.
  ///   - onFatal: Called after a fatal error of the client; it should make `isFinished` true soon.
  ///   - onServed: Called after an iteration that served events, once their memory is freed. A message counts against
  ///     the client's queue until its report is destroyed.
  ///   - onEvent: Receives delivery reports, rebalances and commit results. The observer receives other events.
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
      for throttling in handle.throttles.take() { observer.throttling(throttling) }
      if served > 0 { onServed() }
      if served == Self.budgetPerTurn {
        await Task.yield()
      } else if !isFinished() {
        await wake.wait()
      }
    }
  }

  /// Passes a log, error or statistics event to the observer. Returns false for other events.
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
      // The event of a fatal error contains the underlying error; only the client knows that it is fatal.
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
        observer.log(.init(level: 4, facility: "STATS", message: "cannot read the statistics: \(error)"))
      }
      return true
    default:
      return false
    }
  }
}
