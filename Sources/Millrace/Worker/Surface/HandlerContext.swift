// What a handler may ask for while it runs.

public import AppStore
public import AppStoreServerAPI
public import Clocks
public import Logging

/// The runtime as one run of a handler sees it.
public struct HandlerContext: Sendable {
  /// The process's time. Handlers that wait or compare dates use this and nothing else, so that tests turn time by hand.
  public var clock: MillraceClock { tools.clock }
  /// Carries the notification's id, key and trace.
  public var logger: Logger { cause.describe(tools.logger) }
  /// When the runtime stops waiting for this run; the handler's task is cancelled then.
  public let deadline: Timestamp
  /// How often the handler ran for this notification before.
  public let attempt: Int
  /// Whether an operator asked for handlers to run again; effects are not repeated all the same.
  public let isReapplied: Bool

  // Loggers and clients are made of these when they are asked for: most runs want neither.
  private let tools: HandlerTools
  private let cause: HandlerCause
  private let journal: any EffectJournal
  private let longestWait: Duration

  /// - Parameter longestWait: For a turn at Apple.
  init(
    _ cause: HandlerCause, tools: HandlerTools, deadline: Timestamp, attempt: Int, isReapplied: Bool,
    journal: any EffectJournal, longestWait: Duration
  ) {
    self.tools = tools
    self.cause = cause
    self.deadline = deadline
    self.attempt = attempt
    self.isReapplied = isReapplied
    self.journal = journal
    self.longestWait = longestWait
  }

  /// The App Store Server API for an app.
  ///
  /// Its calls wait for their turn in the app's budget for their endpoint, which the replicas of a worker share by their
  /// lanes; another worker that calls the same endpoint has as much again. One whose turn is more than five seconds away
  /// throws an error that parks the notification until then and counts as no attempt; let it pass. What is done once takes
  /// its turn before it is begun: ``once(_:body:calling:in:of:perform:)``.
  /// - Throws: ``PermanentFailure`` with reason `api-not-configured` where the app has no credentials.
  public func appStore(for bundleId: String?) throws -> AppStoreServerClient {
    let patience = TurnPatience(atMost: longestWait) { [journal] in
      await journal.beginWaiting()
    } end: { [journal] in
      await journal.endWaiting()
    }
    return try tools.clients.client(for: bundleId).waiting(patience)
  }

  /// What an earlier outcome kept under this name; nil: nothing. An outcome that is decided and not yet in Kafka counts.
  ///
  /// It is in the same transaction as that outcome's events, and moves with the lane.
  /// - Throws: `CancellationError` where the lane is gone.
  public func state(_ name: String) async throws -> [UInt8]? { try await journal.state(name) }

  /// Does something that cannot be undone, once.
  ///
  /// The intent (name and body) is written and acknowledged before `perform` runs. Where an earlier run got as far as
  /// that and its end is not known, `perform` runs again with *the same body*, so that a receiver that de-duplicates
  /// sees one request. Where an earlier run ended, its result is returned and `perform` does not run.
  ///
  /// An effect belongs to the lane of its notification's key. A name that two keys share is two effects: what is to be
  /// done once for a customer with several subscriptions needs a worker that reads a topic keyed by customer.
  ///
  /// - Parameters:
  ///   - name: Names the effect for ever, for instance `extend/<campaign>/<originalTransactionId>`. At most 256 bytes.
  ///   - body: What is to be sent. At most 256 KiB, as what `perform` returns.
  ///   - perform: Sends it, and returns what is worth keeping of the answer. Throw for an answer that is none.
  /// - Returns: what `perform` returned, now or then.
  /// - Throws: what `perform` throws, of a ``NothingWasDone`` its reason; `CancellationError` where the lane is gone;
  ///   ``PermanentFailure`` for a bad name.
  public func once(
    _ name: String, body: [UInt8], perform: (EffectIntent) async throws -> [UInt8]
  ) async throws -> [UInt8] {
    guard !name.isEmpty, name.utf8.count <= EffectIntent.maximumNameBytes else {
      throw PermanentFailure(
        "effect-name", "an effect's name has 1 to \(EffectIntent.maximumNameBytes) bytes, not \(name.utf8.count)")
    }
    guard body.count <= EffectIntent.maximumBodyBytes else {
      throw PermanentFailure(
        "effect-body", "the body of \(name) has \(body.count) bytes, more than \(EffectIntent.maximumBodyBytes)")
    }
    switch try await journal.begin(name, body: body) {
    case .ended(let result): return result
    case .intended(let intent):
      // Where nobody waits for this run any more, nobody would write down what came of it.
      try Task.checkCancellation()
      let result: [UInt8]
      do {
        result = try await perform(intent)
      } catch let nothing as NothingWasDone {
        if !intent.isRepeated { await journal.withdraw(name) }
        throw nothing.reason
      }
      guard result.count <= EffectIntent.maximumBodyBytes else {
        // It was done, and must not be done again for want of an answer to keep.
        try await journal.end(name, result: [])
        throw PermanentFailure(
          "effect-result",
          "\(name) was done, and nothing is kept of its answer, which has \(result.count) bytes; keep less of it")
      }
      try await journal.end(name, result: result)
      return result
    }
  }
}

extension HandlerContext {
  /// Does something at Apple that cannot be undone, once: as ``once(_:body:perform:)``, in its turn.
  ///
  /// The turn is taken before the intent is written, so that none stands for a call that has to wait; what has ended
  /// needs none. An error that says that this call had no effect (no connection, a 429) is a ``NothingWasDone``.
  ///
  /// - Parameters:
  ///   - name: As there.
  ///   - body: As there.
  ///   - endpoint: What `perform` calls.
  ///   - environment: Where it calls it.
  ///   - client: Of the app.
  ///   - perform: Gets the client that has the turn.
  /// - Returns: what `perform` returned, now or then.
  /// - Throws: what ``once(_:body:perform:)`` throws; `APIError` of kind `budget` where the turn is too far away, to be
  ///   let pass as ``appStore(for:)`` says.
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

  /// How an effect of this key's lane stands; nil where none of that name was ever begun.
  ///
  /// An effect belongs to the lane whose handler began it, so ask with the key that its notification had.
  public func effect(_ name: String) async -> EffectStanding? { await journal.standing(of: name) }

  /// What all lanes of this worker have counted and caused, as of what is committed now. Reads every ledger from its
  /// beginning: for what is asked once in a while, a reconciliation for instance.
  ///
  /// - Parameter prefixes: Beginnings of the names of counters and effects that are wanted.
  /// - Throws: `KafkaError`; ``MillraceError`` for a ledger that this version cannot read.
  public func tally(of prefixes: [String]) async throws -> LedgerTally { try await tools.ledgers.tally(of: prefixes) }
}

/// What all runs of a worker's handlers share. A class: each run has it, and it is many values.
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

/// What a handler runs for, as its log lines name it.
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

/// How far an effect got.
public enum EffectStanding: Sendable, Hashable {
  /// It was begun, and its end is not known.
  case open(since: Timestamp)
  /// It was done, with this result.
  case ended([UInt8])
}

/// Something that is about to be done and cannot be undone.
public struct EffectIntent: Sendable, Hashable {
  /// The longest name, in bytes.
  public static let maximumNameBytes = 256
  /// The longest body, and the longest result, in bytes: they stand in the ledger for ever.
  public static let maximumBodyBytes = 256 << 10

  /// Names the effect.
  public var name: String
  /// What to send: of an earlier run where there was one, never a newer one.
  public var body: [UInt8]
  /// When the intent was first written; more than an hour ago means: look before you send.
  public var intendedAt: Timestamp
  /// Whether an earlier run may have sent it.
  public var isRepeated: Bool
}

/// Thrown by what ``HandlerContext/once(_:body:perform:)`` performs: nothing was done, and that is certain.
///
/// The intent is withdrawn, as if it had never been written, and the next run decides anew what it wants to send. One that
/// an earlier run wrote stays: that run may have sent it.
public struct NothingWasDone: Error {
  /// Why; what ``HandlerContext/once(_:body:perform:)`` throws.
  public var reason: any Error

  /// Nothing was done, because of this.
  public init(_ reason: any Error) { self.reason = reason }
}

/// How far an effect got.
enum EffectProgress: Sendable {
  /// Its intent is written and acknowledged.
  case intended(EffectIntent)
  /// It was done, with this result.
  case ended([UInt8])
}

/// What a run of a handler has of its lane: where effects and states are written down, and leave to wait.
protocol EffectJournal: Sendable {
  /// Returns once the intent is as durable as Kafka makes it.
  func begin(_ name: String, body: [UInt8]) async throws -> EffectProgress
  /// Notes the result; it is written with the handler's outcome at the latest.
  func end(_ name: String, result: [UInt8]) async throws
  /// Takes the intent back that this run wrote; it is written with the handler's outcome at the latest.
  func withdraw(_ name: String) async
  /// Whether the run may wait for its turn at Apple and let others work meanwhile; every wait that begins is to end.
  func beginWaiting() async -> Bool
  /// A wait is over.
  func endWaiting() async
  /// What is kept under a name.
  func state(_ name: String) async throws -> [UInt8]?
  /// How far an effect got; nil for one that was never begun.
  func standing(of name: String) async -> EffectStanding?
}
