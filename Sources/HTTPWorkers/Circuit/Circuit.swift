// Decides whether a worker sends requests to its endpoint. A value without I/O or clock: time is a parameter.

internal import KafkaClient
package import MillraceTime

/// The circuit of one endpoint.
///
/// It opens after failures of several different records without an answer in between. While it is open, nothing is sent.
/// After a pause it lets one request through, the probe. An answer closes it; a failure opens it again, for twice as
/// long. The probe is not the record of the last failure or of the last probe, so a record that the endpoint cannot handle
/// does not keep it open.
package struct Circuit: Sendable, Hashable {
  /// A point in time.
  package typealias Instant = MillraceClock.Instant

  /// The numbers of a circuit.
  package struct Limits: Sendable, Hashable {
    /// The number of different records whose failures open the circuit.
    package var failures = 3
    /// The number of different records whose answers mean a misconfigured endpoint that opens the circuit.
    var misconfigurations = 2
    /// The first pause. Each failed probe doubles it.
    package var pause = Duration.seconds(1)
    /// The longest pause.
    package var longestPause = Duration.seconds(60)
    /// How long a probe may take. After that another request is the probe.
    package var probe = Duration.seconds(60)
    /// How long the record of the last failure or probe waits for another record to be the probe.
    package var patience = Duration.seconds(10)

    /// The defaults.
    package init() {}
  }

  /// The result of a request.
  package enum Result: Sendable, Hashable {
    /// The endpoint answered.
    case answered
    /// The endpoint asked for a later request.
    case busy(until: Instant)
    /// No answer, or an answer that means a fault of the server.
    case failed
    /// An answer that means that the endpoint is misconfigured.
    case misconfigured
    /// The worker gave up the request for a reason of its own.
    case abandoned
  }

  /// The answer to the question whether a request may be sent.
  package enum Permission: Sendable, Hashable {
    /// Send it.
    case send
    /// Ask again at this time.
    case wait(until: Instant)
  }

  private enum State: Sendable, Hashable {
    case closed
    case open(until: Instant)
    case probing(String, until: Instant)
  }

  private let limits: Limits
  private var state = State.closed
  /// The records that failed since the last answer, at most as many as open the circuit.
  private var failed: Set<String> = []
  private var misconfigured: Set<String> = []
  /// The record of the last failure, or of a probe that the endpoint put off.
  private var last: String?
  private var backoff: Backoff

  /// Creates a closed circuit.
  package init(_ limits: Limits = Limits()) {
    self.limits = limits
    backoff = Backoff(from: limits.pause, upTo: limits.longestPause)
  }

  /// Whether requests are held back.
  package var isOpen: Bool { state != .closed }

  /// Whether a request tests the endpoint, so that the others wait for its result.
  var isProbing: Bool { if case .probing = state { true } else { false } }

  /// Whether the open circuit means a misconfigured endpoint.
  var isMisconfigured: Bool { isOpen && misconfigured.count >= limits.misconfigurations }

  /// Asks whether the request of a record may be sent. If it is a probe, the circuit expects its result.
  package mutating func ask(_ record: String, now: Instant) -> Permission {
    switch state {
    case .closed: return .send
    case .open(let until), .probing(_, let until):
      guard now >= until else { return .wait(until: until) }
      let turn = until.advanced(by: limits.patience)
      if record == last, now < turn { return .wait(until: turn) }
      state = .probing(record, until: now.advanced(by: limits.probe))
      return .send
    }
  }

  /// Takes the result of a request.
  package mutating func ended(_ record: String, _ result: Result, now: Instant) {
    let isProbe = if case .probing(record, _) = state { true } else { false }
    switch result {
    case .answered: close()
    case .busy(let until):
      // It says nothing about other records, but the probe has to be repeated: soon, because the request of one record must
      // not hold the others for hours.
      guard isProbe else { return }
      last = record
      state = .open(
        until: min(max(until, now.advanced(by: backoff.last)), now.advanced(by: limits.longestPause)))
    case .failed:
      if failed.count < limits.failures { failed.insert(record) }
      fail(record, isProbe: isProbe, opens: failed.count >= limits.failures, now: now)
    case .misconfigured:
      if misconfigured.count < limits.misconfigurations { misconfigured.insert(record) }
      fail(record, isProbe: isProbe, opens: misconfigured.count >= limits.misconfigurations, now: now)
    case .abandoned:
      if isProbe { state = .open(until: now) }
    }
  }

  private mutating func fail(_ record: String, isProbe: Bool, opens: Bool, now: Instant) {
    last = record
    if isProbe || state == .closed && opens { state = .open(until: now.advanced(by: backoff.next())) }
  }

  private mutating func close() {
    state = .closed
    failed = []
    misconfigured = []
    last = nil
    backoff.reset()
  }
}
