// The API that a worker implements: a name, families and a handler. The runtime provides the rest.

public import AppStore
public import AppStoreServerAPI
package import CoreMetrics
public import MillraceTime
public import KafkaClient
public import Logging
public import ServiceLifecycle
public import MillraceCore
public import MillraceRecords

/// A worker that processes App Store notifications.
///
/// ```swift
/// @main
/// struct Winback: NotificationWorker {
///   static let name = "winback"
///   static let families: Set<NotificationFamily> = [.subscriptions]
///
///   init(_ setup: WorkerSetup) {}
///
///   func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
///     guard case .expired(.voluntary) = notification.event else { return .ignore }
///     return try .emit(WinbackOffered(customer: notification.transaction?.appAccountToken))
///   }
/// }
/// ```
///
/// With `@main` the type is an executable that accepts `--config`, `--print-config` and `--help`. It serves metrics and
/// health probes, and shuts down gracefully on SIGTERM. See `docs/writing-a-consumer.md`.
public protocol NotificationWorker: Sendable {
  /// The worker's own settings, `workers.<name>.settings` in the configuration. ``WorkerSetup/settings(_:)`` reads
  /// them.
  associatedtype Settings: WorkerSettings = NoSettings

  /// The worker's name in topics, consumer group and metrics: 1 to 40 lower-case letters, digits and hyphens, starting
  /// with a letter.
  ///
  /// The name is the worker's identity. A worker that is renamed starts with an empty ledger and no committed offsets.
  static var name: String { get }
  /// The notification families that the worker reads.
  static var families: Set<NotificationFamily> { get }
  /// The topics, other than its events topic, that the worker writes to, without the deployment's prefix.
  ///
  /// Declare the property with its type, `Set<String>`. If Swift infers an array, the default applies: no topics.
  ///
  /// Handlers write to them with ``Outcome/Results/keeping(_:_:row:)`` and ``Outcome/writing(_:)``. The worker does not
  /// start if one of them is missing. It stops with an error if a handler writes to a topic that is not listed. When a
  /// customer is erased, the worker writes records without a value to each of them: one for the customer's key, and one
  /// for the row of each of the customer's states.
  static var outputTopics: Set<String> { get }
  /// The default settings, which the configuration can override.
  static var policy: WorkerPolicy { get }

  /// Whether this type runs the worker of a name. The default compares it with ``name``. A type that runs as several
  /// workers recognises their names, so that their settings can be checked.
  static func runs(as name: String) -> Bool

  /// Returns the workers that this type runs as in a deployment.
  ///
  /// The default is one worker with the type's ``name``, ``families`` and ``policy``. If there are several identities,
  /// the process creates one instance for each; ``WorkerSetup/name`` tells an instance which one it is.
  /// - Throws: An error that prevents the process from starting.
  static func identities(in configuration: MillraceConfiguration) throws -> [WorkerIdentity]

  /// Sets up what belongs to the process and not to the worker, for instance a tracer (see `docs/tracing.md`). The
  /// runtime calls it once, before anything else runs.
  /// - Returns: Services to run alongside the worker. They stop after it.
  static func bootstrap() throws -> [any Service]

  /// Returns the time after which a notification is no longer worth handling, or nil if there is none.
  ///
  /// If several records wait for a handler, the one with the earliest deadline runs first. If a record would miss its
  /// deadline on the shortest retry topic, the worker runs it at once or makes it a dead letter. The worker calls this
  /// before it verifies the notification, so only the headers are available.
  static func deadline(of envelope: NotificationEnvelope, receivedAt: Timestamp) -> Timestamp?

  /// Creates the worker. The runtime calls it once for each process and identity.
  /// - Throws: An error that prevents the worker from starting. The process prints it and exits.
  init(_ setup: WorkerSetup) async throws

  /// Processes one notification. The worker runs notifications of one key one at a time, and notifications of different
  /// keys concurrently. Those of one key and family run in the order of arrival, except that later ones may overtake
  /// one that waits for a retry; see ``WorkerPolicy/ordering``.
  ///
  /// A handler may run more than once for a notification, for instance after a crash. After an aborted transaction it
  /// does not run again: the worker writes the same outcome again. Events have the same ids in every run. For actions
  /// that cannot be undone, use ``HandlerContext/once(_:body:perform:)``.
  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome

  /// Processes a timer that an outcome set.
  ///
  /// A timer is not a record, so it is not delayed in a retry topic:
  ///
  /// - After ``Outcome/Decision/done(_:)`` it is deleted, unless the outcome sets it again.
  /// - After ``Outcome/Decision/deadLetter(reason:detail:)`` it is deleted and becomes a dead letter. A requeue sets it
  ///   again. If the outcome sets a timer of the same name, the dead letter has the time and the payload of that one.
  /// - After ``Outcome/Decision/wait(until:reason:)`` it fires again at that time.
  /// - After ``Outcome/Decision/retry(after:reason:detail:)`` or an error it fires again by the retry schedule. It becomes
  ///   a dead letter after ``WorkerPolicy/maximumAttempts``. If Apple's rate limit does not allow a call within five
  ///   seconds, it fires again when the call is allowed.
  func timerFired(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome
}

extension NotificationWorker {
  /// The default: no additional services.
  public static func bootstrap() throws -> [any Service] { [] }

  /// The default: the worker of the type's name.
  public static func runs(as name: String) -> Bool { name == self.name }

  /// The default: no additional topics.
  public static var outputTopics: Set<String> { [] }

  /// The default policy: free ordering, and retry delays that start at ten seconds.
  public static var policy: WorkerPolicy { WorkerPolicy() }

  /// The default: no deadline.
  public static func deadline(of envelope: NotificationEnvelope, receivedAt: Timestamp) -> Timestamp? { nil }

  /// The default: ignores the timer.
  public func timerFired(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome { .ignore }
}

/// A timer that is due.
public struct FiredTimer: Sendable, Hashable {
  /// The timer's name.
  public var name: String
  /// The time for which the timer was set.
  public var at: Timestamp
  /// The payload that was given when the timer was set.
  public var payload: [UInt8]
  /// The key of the notification that set the timer. Events of the timer have the same key.
  public var key: String
  /// The number of failed runs since the timer was set.
  var attempt = 0
}

/// The dependencies that a worker receives when it is created.
public struct WorkerSetup: Sendable {
  /// The name of the identity that this instance runs as.
  public var name: String
  /// The configuration of the process.
  public var configuration: MillraceConfiguration
  /// The clock of the process.
  public var clock: MillraceClock
  /// A logger that is labelled with the worker's name.
  public var logger: Logger
  /// Sends HTTP requests to other servers. The process closes it. It has no timeout of its own: a handler run is
  /// limited by ``WorkerPolicy/handlerTimeout``.
  public var http: any HTTPExchange
  /// The settings that a test set. If nil, the configuration has them.
  private let given: (any WorkerSettings)?
  /// Access to the worker's topics; nil in a setup that a test created.
  private let log: (any RecordLog)?
  /// The process; nil in a setup that a test created, and in a harness.
  package let host: WorkerHost?
  /// The destination of the worker's own metrics.
  package let metrics: any MetricsFactory
  /// Set if handlers run without effects. ``http`` then refuses requests.
  package let dryRun: DryRunJournal?

  /// Creates a setup for tests.
  /// - Parameter settings: The worker's settings. If nil, the configuration has them.
  public init(
    name: String, configuration: MillraceConfiguration, settings: (any WorkerSettings)? = nil, clock: MillraceClock,
    logger: Logger, http: any HTTPExchange
  ) {
    self.init(
      name: name, configuration: configuration, settings: settings, clock: clock, logger: logger, http: http, log: nil,
      host: nil, metrics: NOOPMetricsHandler.instance)
  }

  init(
    name: String, configuration: MillraceConfiguration, settings: (any WorkerSettings)?, clock: MillraceClock,
    logger: Logger, http: any HTTPExchange, log: (any RecordLog)?, host: WorkerHost?, metrics: any MetricsFactory,
    dryRun: DryRunJournal? = nil
  ) {
    self.dryRun = dryRun
    self.host = host
    self.metrics = metrics
    self.given = settings
    self.name = name
    self.http = http
    self.configuration = configuration
    self.clock = clock
    self.logger = logger
    self.log = log
  }

  /// Reads the settings of this worker.
  ///
  /// - Throws: ``MillraceError`` with every unknown key, invalid value and violated rule.
  public func settings<Settings: WorkerSettings>(
    _ type: Settings.Type = Settings.self
  ) throws(MillraceError) -> Settings {
    if let given = given as? Settings { return given }
    return try configuration.settings(type, of: name)
  }

  /// Returns an in-memory table of a compacted topic. Every process of the worker reads the whole topic.
  ///
  /// - Parameters:
  ///   - topic: The topic's name without the deployment's prefix.
  ///   - initial: The content of an empty table.
  ///   - fold: Applies one record to the table. A record with a nil value removes its key. The same record may be
  ///     applied again.
  /// - Throws: ``MillraceError`` in a setup that a test created.
  public func table<Content: Sendable>(
    _ topic: String, _ initial: Content, fold: @escaping @Sendable (inout Content, ConsumerRecord) -> Void
  ) throws(MillraceError) -> TopicTable<Content> {
    TopicTable(configuration.topics.prefix + topic, in: try log(of: topic), initial, fold: fold)
  }

  /// Returns an index of a compacted topic of any size. Every process of the worker keeps the position of each key's
  /// newest record in memory.
  ///
  /// - Parameter topic: The topic's name without the deployment's prefix.
  /// - Throws: ``MillraceError`` in a setup that a test created.
  public func index(_ topic: String) throws(MillraceError) -> CompactedTopicIndex {
    CompactedTopicIndex(configuration.topics.prefix + topic, in: try log(of: topic))
  }

  private func log(of topic: String) throws(MillraceError) -> any RecordLog {
    guard let log else {
      throw MillraceError(
        .topics, "this setup has no record log", at: topic, remedy: "in tests, create the worker with WorkerHarness")
    }
    return log
  }
}
