// What a team writes: a type with a name, families, and a handler. Everything else is the runtime's.

public import AppStore
public import AppStoreServerAPI
public import Clocks
public import Kafka
public import Logging
public import ServiceLifecycle

/// A process that acts on notifications.
///
/// ```swift
/// @main
/// struct Winback: NotificationWorker {
///   static let name = "winback"
///   static let families: Set<NotificationFamily> = [.subscriptions]
///
///   init(_ setup: WorkerSetup) {}
///
///   func handle(_ notification: Notification, in context: HandlerContext) async throws -> Outcome {
///     guard case .expired(.voluntary) = notification.event else { return .ignore }
///     return try .emit(WinbackOffered(customer: notification.transaction?.appAccountToken))
///   }
/// }
/// ```
///
/// With `@main` the type is an executable that understands `--config`, `--print-config` and `--help`, serves metrics and
/// probes, and leaves in order on SIGTERM. See `docs/writing-a-consumer.md`.
public protocol NotificationWorker: Sendable {
  /// Names the worker in topics, group and metrics: 1 to 40 lower-case letters, digits and hyphens. It is its identity:
  /// under another name it starts from nothing.
  static var name: String { get }
  /// What it reads.
  static var families: Set<NotificationFamily> { get }
  /// Topics that it writes besides its events (``Outcome/keeping(_:_:row:)``, ``Outcome/writing(_:)``), without the
  /// deployment's prefix. It does not start where one is missing, and ends with an error when it writes to another.
  static var tables: Set<String> { get }
  /// How it is run where the configuration says nothing.
  static var policy: WorkerPolicy { get }

  /// As what it runs in a deployment: one worker with the name, the families and the policy above, unless said
  /// otherwise. A type that runs as several workers makes one for each identity, all in one process; ``WorkerSetup/name``
  /// tells each which one it is.
  /// - Throws: what keeps the process from starting.
  static func identities(in configuration: MillraceConfiguration) throws -> [WorkerIdentity]

  /// Sets up what belongs to the process and not to the worker: a tracer, for instance (see `docs/tracing.md`). Called
  /// once, before anything else runs.
  /// - Returns: what is to run beside the worker, and to end after it.
  static func bootstrap() throws -> [any Service]

  /// When a notification is worth nothing any more; nil: never. Ready records run in the order of their deadlines, and
  /// one that would miss its deadline on the next retry tier runs at once or becomes a dead letter. Asked before anything
  /// is verified, so it has the headers alone.
  static func deadline(of envelope: NotificationEnvelope, receivedAt: Timestamp) -> Timestamp?

  /// Makes the worker, once for each process and identity.
  /// - Throws: what keeps it from working; the process ends and prints it.
  init(_ setup: WorkerSetup) async throws

  /// Decides about one notification. Called for one notification of a key at a time, in order; for different keys at the
  /// same time.
  ///
  /// It may run more than once for the same notification (a crash, an aborted transaction never: then only what it
  /// decided is written again). What it emits has the same ids each time; what cannot be undone belongs into
  /// ``HandlerContext/once(_:body:perform:)``.
  func handle(_ notification: Notification, in context: HandlerContext) async throws -> Outcome

  /// Decides about a timer that an outcome set. A timer is no record that could be parked or given to a person: one whose
  /// handler throws, or decides anything but what is done, fires again after the shortest tier's delay.
  func timerFired(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome
}

extension NotificationWorker {
  /// Nothing.
  public static func bootstrap() throws -> [any Service] { [] }

  /// None.
  public static var tables: Set<String> { [] }

  /// Ten-second tiers upwards, free order.
  public static var policy: WorkerPolicy { WorkerPolicy() }

  /// Never.
  public static func deadline(of envelope: NotificationEnvelope, receivedAt: Timestamp) -> Timestamp? { nil }

  /// Nothing: a worker without timers.
  public func timerFired(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome { .ignore }
}

/// A timer whose time has come.
public struct FiredTimer: Sendable, Hashable {
  /// Its name.
  public var name: String
  /// When it was to fire.
  public var at: Timestamp
  /// What was given when it was set.
  public var payload: [UInt8]
  /// The key of the notification that set it; its events have this key.
  public var key: String
}

/// What a worker is made with.
public struct WorkerSetup: Sendable {
  /// As what it runs: the name of one of its identities.
  public var name: String
  /// The configuration of the process.
  public var configuration: MillraceConfiguration
  /// The process's time.
  public var clock: MillraceClock
  /// Named after the worker.
  public var logger: Logger
  /// Carries requests to other servers. The process closes it; limits of time are its caller's business, and a run of a
  /// handler has one.
  public var http: any HTTPExchange
  /// Where the worker's topics are; nil in a setup that a test made.
  private let log: (any RecordLog)?

  /// A setup, for tests.
  public init(
    name: String, configuration: MillraceConfiguration, clock: MillraceClock, logger: Logger, http: any HTTPExchange
  ) {
    self.init(name: name, configuration: configuration, clock: clock, logger: logger, http: http, log: nil)
  }

  init(
    name: String, configuration: MillraceConfiguration, clock: MillraceClock, logger: Logger, http: any HTTPExchange,
    log: (any RecordLog)?
  ) {
    self.name = name
    self.http = http
    self.configuration = configuration
    self.clock = clock
    self.logger = logger
    self.log = log
  }

  /// A compacted topic as a table that every process of the worker reads whole and keeps in memory.
  ///
  /// - Parameters:
  ///   - topic: The topic's name without the deployment's prefix.
  ///   - initial: The table without a record.
  ///   - fold: Takes one record in; nil removes. The same record may come again.
  /// - Throws: ``MillraceError`` in a setup that a test made.
  public func table<Content: Sendable>(
    _ topic: String, _ initial: Content, fold: @escaping @Sendable (inout Content, ConsumerRecord) -> Void
  ) throws(MillraceError) -> TopicTable<Content> {
    TopicTable(configuration.topics.prefix + topic, in: try log(of: topic), initial, fold: fold)
  }

  /// A compacted topic of any size, of which every process of the worker knows where each key's newest record stands.
  ///
  /// - Parameter topic: The topic's name without the deployment's prefix.
  /// - Throws: ``MillraceError`` in a setup that a test made.
  public func index(_ topic: String) throws(MillraceError) -> TopicIndex {
    TopicIndex(configuration.topics.prefix + topic, in: try log(of: topic))
  }

  private func log(of topic: String) throws(MillraceError) -> any RecordLog {
    guard let log else {
      throw MillraceError(
        .topics, "this setup has no log", at: topic, remedy: "let WorkerHarness make the worker in tests")
    }
    return log
  }
}

/// How a worker is run. What `workers.<name>` in the configuration says goes before it.
public struct WorkerPolicy: Sendable, Hashable {
  /// What happens to the successors of a waiting record.
  public enum Ordering: String, Sendable, Hashable, CaseIterable {
    /// A waiting record steps aside.
    case free
    /// Successors of its key wait behind it.
    case strict
  }

  /// Where a worker that has never run begins.
  public enum Start: String, Sendable, Hashable, CaseIterable {
    /// With the oldest record there is.
    case earliest
    /// With the first record written from now on.
    case latest
  }

  /// What happens to the successors of a waiting record.
  public var ordering = Ordering.free
  /// Delays of the retry tiers, ascending, at least one.
  public var retryDelays: [Duration] = [.seconds(10), .seconds(60), .seconds(600), .seconds(3_600), .seconds(21_600)]
  /// How often a record is tried before it becomes a dead letter.
  public var maximumAttempts = 12
  /// How long one run of a handler may take.
  public var handlerTimeout = Duration.seconds(60)
  /// Most records of a lane in flight or waiting in memory.
  public var recordsInFlight = 256
  /// Most bytes of a lane in flight or waiting in memory.
  public var bytesInFlight = 16 << 20
  /// Most handlers of a lane that run at the same time.
  public var parallelism = 16
  /// How long what was handled is remembered.
  public var ledgerHorizon = Duration.seconds(8 * 86_400)
  /// Most outcomes in one commit.
  public var commitCount = 4_000
  /// Longest time an outcome waits for its commit to begin.
  public var commitInterval = Duration.milliseconds(20)
  /// How long a lane that is taken away, or a process that leaves, waits for handlers that run.
  public var drainTimeout = Duration.seconds(20)
  /// Where a worker that has never run begins.
  public var start = Start.earliest

  /// The defaults.
  public init() {}
}
