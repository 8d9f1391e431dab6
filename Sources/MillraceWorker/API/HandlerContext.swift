// The API that a handler uses while it runs: time, logging, calls to Apple, stored state and one-time effects.

public import AppStore
public import AppStoreServerAPI
public import MillraceTime
public import Logging
internal import MillraceCore
internal import MillraceRecords

/// The runtime services available to one run of a handler.
public struct HandlerContext: Sendable {
  /// The worker's clock. Handlers that wait or compare dates should use only this clock, so that tests can control
  /// time.
  public var clock: MillraceClock { tools.clock }
  /// A logger whose metadata contains the notification's id, key and trace.
  public var logger: Logger { cause.describe(tools.logger) }
  /// The time at which the worker cancels the handler's task and stops waiting for it.
  public let deadline: Timestamp
  /// The number of earlier handler runs for this notification, or of failed runs for this timer.
  public let attempt: Int
  /// Whether an operator asked for handlers to run again. Completed effects are not repeated even then.
  public let isReapplied: Bool

  // Loggers and clients are created on demand, because most runs need neither.
  private let tools: HandlerTools
  private let cause: HandlerCause
  let recorder: any EffectRecorder
  private let longestWait: Duration

  /// - Parameter longestWait: The longest time that a call to Apple waits for a rate-limit slot.
  init(
    _ cause: HandlerCause, tools: HandlerTools, deadline: Timestamp, attempt: Int, isReapplied: Bool,
    recorder: any EffectRecorder, longestWait: Duration
  ) {
    self.tools = tools
    self.cause = cause
    self.deadline = deadline
    self.attempt = attempt
    self.isReapplied = isReapplied
    self.recorder = recorder
    self.longestWait = longestWait
  }

  /// Returns the App Store Server API client of an app.
  ///
  /// Each call waits for a slot in the app's budget for that endpoint. Workers divide the budget according to `calls`
  /// and `callWeight` of their configuration entries; the replicas of a worker divide its part according to their
  /// lanes.
  ///
  /// If the slot is more than five seconds away, the call throws an error. Do not catch it: the worker then delays the
  /// notification until that time, and the run does not count as an attempt. For calls that must happen only once, use
  /// ``once(_:body:calling:in:of:perform:)``, which acquires the slot before it writes the intent.
  /// - Throws: ``HandlerError`` with reason `api-not-configured` if the app has no credentials.
  public func appStore(for bundleId: String?) throws -> AppStoreServerClient {
    let patience = RateLimitWait(atMost: longestWait) { [recorder] in
      await recorder.beginWaiting()
    } end: { [recorder] in
      await recorder.endWaiting()
    }
    return try tools.clients.client(for: bundleId).waiting(patience)
  }

  /// Returns the state that an earlier outcome stored under this name, or nil if there is none.
  ///
  /// The result includes outcomes that are decided but not yet committed. The worker writes state in the same
  /// transaction as the outcome's events. State moves with the lane.
  /// - Throws: `CancellationError` if the worker no longer owns the lane.
  public func state(_ name: String) async throws -> [UInt8]? { try await recorder.state(name) }

  /// Performs an action that cannot be undone, once.
  ///
  /// The worker writes the intent (name and body) and waits for its acknowledgement before it calls `perform`. If the
  /// result of an earlier attempt is unknown, `perform` receives *the same body* again, so a receiver that deduplicates
  /// sees one request. If an earlier attempt completed, the worker returns its result and does not call `perform`.
  ///
  /// An effect belongs to the lane of its notification's key, so put the key or the notification's id into the name.
  /// Two keys that use the same name share one effect if they are in one lane, and have two otherwise. To act once for
  /// a customer with several subscriptions, use a worker that reads a topic keyed by customer.
  ///
  /// - Parameters:
  ///   - name: The permanent name of the effect, for instance `extend/<campaign>/<originalTransactionId>`. At most 256
  ///     bytes.
  ///   - body: The bytes to send. At most 256 KiB.
  ///   - perform: Sends the body and returns the part of the response to keep, at most 256 KiB. Throw an error if the
  ///     response is not an answer to the request.
  /// - Returns: The result of `perform`, from this attempt or an earlier one.
  /// - Throws: The error of `perform`, or the ``NothingWasDone/reason`` of a ``NothingWasDone``; `CancellationError` if
  ///   the worker no longer owns the lane; ``HandlerError`` if the name is empty or too long, or the body or the
  ///   result is too large.
  public func once(
    _ name: String, body: [UInt8], perform: (EffectIntent) async throws -> [UInt8]
  ) async throws -> [UInt8] {
    guard !name.isEmpty, name.utf8.count <= EffectIntent.maximumNameBytes else {
      throw HandlerError(
        "effect-name", "an effect's name must have 1 to \(EffectIntent.maximumNameBytes) bytes, not \(name.utf8.count)")
    }
    guard body.count <= EffectIntent.maximumBodyBytes else {
      throw HandlerError(
        "effect-body", "the body of \(name) has \(body.count) bytes, the limit is \(EffectIntent.maximumBodyBytes)")
    }
    switch try await recorder.begin(name, body: body) {
    case .ended(let result): return result
    case .intended(let intent):
      // A cancelled run must not start the effect: the worker would no longer record its result.
      try Task.checkCancellation()
      let result: [UInt8]
      do {
        result = try await perform(intent)
      } catch let nothing as NothingWasDone {
        if !intent.isRepeated { await recorder.withdraw(name) }
        throw nothing.reason
      }
      guard result.count <= EffectIntent.maximumBodyBytes else {
        // The effect is done. Record that, so that an oversized result does not cause a second attempt.
        try await recorder.end(name, result: [])
        throw HandlerError(
          "effect-result",
          "\(name) was done, but its result of \(result.count) bytes is too large to keep; return less from `perform`")
      }
      try await recorder.end(name, result: result)
      return result
    }
  }
}

extension HandlerContext {
  /// Makes a call to Apple that cannot be undone, once, and within the app's budget. See ``once(_:body:perform:)``.
  ///
  /// The worker acquires the rate-limit slot before it writes the intent, so no intent exists for a call that has to
  /// wait. An effect that has completed needs no slot. An error that proves that the call had no effect (no connection,
  /// a 429) is treated as ``NothingWasDone``.
  ///
  /// - Parameters:
  ///   - name: The permanent name of the effect, as in ``once(_:body:perform:)``.
  ///   - body: The bytes to send, as in ``once(_:body:perform:)``.
  ///   - endpoint: The endpoint that `perform` calls.
  ///   - environment: The environment that `perform` calls.
  ///   - client: The app's client; see ``appStore(for:)``.
  ///   - perform: Makes the call with the client it receives, which holds the slot.
  /// - Returns: The result of `perform`, from this attempt or an earlier one.
  /// - Throws: The errors of ``once(_:body:perform:)``; `APIError` of kind `budget` if the slot is too far away. Do not
  ///   catch the latter; see ``appStore(for:)``.
  public func once(
    _ name: String, body: [UInt8], calling endpoint: APIEndpoint, in environment: AppStoreEnvironment,
    of client: AppStoreServerClient, perform: (EffectIntent, AppStoreServerClient) async throws -> [UInt8]
  ) async throws -> [UInt8] {
    if case .ended(let result)? = await effect(name) { return result }
    let client = try await client.takingTurn(for: endpoint, in: environment)
    return try await once(name, body: body) { intent in
      do {
        return try await perform(intent, client)
      } catch let error as APIError
        where !error.isUnclear && error.endpoint == endpoint && error.environment == environment
      {
        throw NothingWasDone(error)
      }
    }
  }

  /// Returns the status of an effect, or nil if no effect of that name was ever started.
  ///
  /// An effect belongs to the lane of the notification whose handler started it. Ask from a notification with the same
  /// key.
  public func effect(_ name: String) async -> EffectStatus? { await recorder.status(of: name) }

  /// Returns the counters and effects of all lanes of this worker, as committed now. It reads every ledger from the
  /// beginning, so use it only for rare tasks such as a reconciliation.
  ///
  /// - Parameter prefixes: The name prefixes of the counters and effects to return.
  /// - Throws: `KafkaError`; ``MillraceError`` for a ledger that this version cannot read.
  public func tally(of prefixes: [String]) async throws -> LedgerTally { try await tools.ledgers.tally(of: prefixes) }
}

/// Dependencies shared by all runs of a worker's handlers. A class, so that each run holds one reference.
final class HandlerTools: Sendable {
  let clock: MillraceClock
  let clients: AppStoreClients
  let ledgers: WorkerLedgers
  let logger: Logger

  init(clock: MillraceClock, clients: AppStoreClients, ledgers: WorkerLedgers, logger: Logger) {
    self.clock = clock
    self.clients = clients
    self.ledgers = ledgers
    self.logger = logger
  }
}

/// The notification or timer that a handler runs for, used for log metadata.
enum HandlerCause: Sendable {
  case notification(id: String, key: String, trace: TraceParent?)
  case timer(String)

  func describe(_ logger: Logger) -> Logger {
    var logger = logger
    switch self {
    case .notification(let id, let key, let trace):
      logger[metadataKey: "notification"] = "\(id)"
      logger[metadataKey: "key"] = "\(key)"
      if let trace { logger[metadataKey: "trace"] = "\(Hex.text(trace.traceID))" }
    case .timer(let name):
      logger[metadataKey: "timer"] = "\(name)"
    }
    return logger
  }
}

/// The status of an effect.
public enum EffectStatus: Sendable, Hashable {
  /// The effect was started at this time; its result is unknown.
  case open(since: Timestamp)
  /// The effect completed with this result.
  case ended([UInt8])
}

/// The recorded intent to perform an action that cannot be undone.
public struct EffectIntent: Sendable, Hashable {
  /// The maximum length of a name, in bytes.
  public static let maximumNameBytes = 256
  /// The maximum size of a body and of a result, in bytes. The ledger keeps the body until it has the result, and the
  /// result forever.
  public static let maximumBodyBytes = 256 << 10

  /// The name of the effect.
  public var name: String
  /// The bytes to send. If an earlier attempt wrote the intent, these are the bytes of that attempt.
  public var body: [UInt8]
  /// The time when the intent was first written. If it is more than an hour ago, query the receiver before you send.
  public var intendedAt: Timestamp
  /// Whether an earlier attempt may have sent the request.
  public var isRepeated: Bool
}

/// An error that the `perform` closure of ``HandlerContext/once(_:body:perform:)`` throws when it is certain that
/// nothing was done.
///
/// The worker withdraws the intent, so the next run decides again which bytes to send. It does not withdraw an intent
/// that an earlier attempt wrote, because that attempt may have sent the request.
public struct NothingWasDone: Error {
  /// The underlying error, which ``HandlerContext/once(_:body:perform:)`` throws.
  public var reason: any Error

  /// Creates an error with the reason why nothing was done.
  public init(_ reason: any Error) { self.reason = reason }
}

/// The progress of an effect.
enum EffectProgress: Sendable {
  /// The intent is written and acknowledged.
  case intended(EffectIntent)
  /// The effect completed with this result.
  case ended([UInt8])
}

/// Records effects and states of one handler run, and lets the run wait for a rate-limit slot.
protocol EffectRecorder: Sendable {
  /// Writes the intent and returns when Kafka has acknowledged it.
  func begin(_ name: String, body: [UInt8]) async throws -> EffectProgress
  /// Records the result. It is written with the handler's outcome at the latest.
  func end(_ name: String, result: [UInt8]) async throws
  /// Withdraws the intent that this run wrote. The withdrawal is written with the handler's outcome at the latest.
  func withdraw(_ name: String) async
  /// Returns whether the run may wait for a rate-limit slot while other handlers run. Every wait must be ended with
  /// ``endWaiting()``.
  func beginWaiting() async -> Bool
  /// Ends a wait.
  func endWaiting() async
  /// Returns the state stored under a name.
  func state(_ name: String) async throws -> [UInt8]?
  /// Returns the status of an effect, or nil if it was never started.
  func status(of name: String) async -> EffectStatus?
}
