// One worker in the configuration: overrides of its policy, and the settings that the worker declares for itself.

package import AppStoreServerAPI

/// `workers.<name>`: overrides of one worker's policy. An unset key leaves the worker's own policy unchanged.
package struct WorkerEntry: Sendable, Hashable {
  /// Whether later records of a delayed record's key wait behind it.
  package var ordering: WorkerPolicy.Ordering?
  /// The offset at which a worker starts on its first run.
  package var start: WorkerPolicy.Start?
  /// The retry delays, ascending.
  package var retryDelays: [Duration]?
  /// How many times a handler runs before its record or timer becomes a dead letter.
  package var maximumAttempts: Int?
  /// How long one run of a handler may take.
  package var handlerTimeout: Duration?
  /// The maximum number of handlers of one lane that run at the same time.
  package var parallelism: Int?
  /// The maximum number of one lane's records in memory.
  package var recordsInFlight: Int?
  /// The maximum size of one lane's records in memory, in bytes.
  package var bytesInFlight: Int?
  /// How long the ledger remembers handled notifications.
  package var ledgerHorizon: Duration?
  /// How long handlers may take to finish when a lane moves or the process leaves.
  package var drainTimeout: Duration?
  /// Overrides ``KafkaSettings/instance`` for this worker.
  package var staticMember: String?
  /// Whether a static member keeps its lanes on an orderly stop; nil: it keeps them.
  package var onStop: OnStop?

  /// The App Store Server API endpoints that the worker calls; nil: the known endpoints of a worker that ships with
  /// Millrace, every endpoint for another worker.
  package var calls: [APIEndpoint]?
  /// The worker's weight among the workers that call the same endpoint; nil: 1.
  package var callWeight: Double?

  /// The families that an HTTP worker reads; nil for another worker.
  package var families: [String]?
  /// The HTTP endpoint that decides for the worker.
  package var handler = HandlerSettings()

  /// The worker's own settings, which its process decodes.
  package var settings = UnreadSettings()

  /// Whether a static member keeps its lanes on an orderly stop.
  package enum OnStop: String, Sendable, Hashable, CaseIterable {
    /// The group reserves them for its next start within the session timeout. For a fixed number of replicas.
    case keep
    /// The group gives them to other members at once. For replicas that come and go.
    case leave
  }

  /// The start of the name of a worker that posts events. `webhooks.crm` describes the worker `webhook-crm`.
  package static let webhookPrefix = "webhook-"

  /// Whether a worker's name is valid: 1 to 40 lower-case letters, digits and hyphens, starting with a letter. After a
  /// hyphen it does not have the word `settings`, with which its environment variables continue.
  package static func isName(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard !text.split(separator: "-").dropFirst().contains("settings") else { return false }
    return (1...40).contains(bytes.count) && (97...122).contains(bytes[0])
      && bytes.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
  }

  /// An entry without overrides.
  package init() {}

  /// Returns the effective settings: these overrides, else the values of the worker's own policy.
  func filled(from policy: WorkerPolicy) -> WorkerEntry {
    var entry = self
    let policy = policy.applying(self)
    (entry.ordering, entry.start) = (policy.ordering, policy.start)
    (entry.retryDelays, entry.maximumAttempts) = (policy.usableRetryDelays, policy.maximumAttempts)
    (entry.handlerTimeout, entry.parallelism) = (policy.handlerTimeout, policy.parallelism)
    (entry.recordsInFlight, entry.bytesInFlight) = (policy.recordsInFlight, policy.bytesInFlight)
    (entry.ledgerHorizon, entry.drainTimeout) = (policy.ledgerHorizon, policy.drainTimeout)
    if isHTTPWorker { entry.handler.timeout = handler.effectiveTimeout }
    return entry
  }
}

extension WorkerPolicy {
  /// Returns this policy with the overrides of `entry`.
  package func applying(_ entry: WorkerEntry) -> WorkerPolicy {
    var policy = self
    policy.ordering = entry.ordering ?? ordering
    policy.start = entry.start ?? start
    policy.retryDelays = entry.retryDelays ?? retryDelays
    policy.maximumAttempts = entry.maximumAttempts ?? maximumAttempts
    policy.handlerTimeout = entry.handlerTimeout ?? handlerTimeout
    policy.parallelism = entry.parallelism ?? parallelism
    policy.recordsInFlight = entry.recordsInFlight ?? recordsInFlight
    policy.bytesInFlight = entry.bytesInFlight ?? bytesInFlight
    policy.ledgerHorizon = entry.ledgerHorizon ?? ledgerHorizon
    policy.drainTimeout = entry.drainTimeout ?? drainTimeout
    return policy
  }
}

extension MillraceConfiguration {
  /// Returns the name under which this process is a static member of a worker's group; nil for a dynamic member.
  package func staticMember(of worker: String) -> String? {
    workers[worker]?.staticMember ?? kafka.instance
  }

  /// Returns whether this process keeps a worker's lanes on an orderly stop.
  package func onStop(of worker: String) -> WorkerEntry.OnStop {
    guard staticMember(of: worker) != nil else { return .leave }
    return workers[worker]?.onStop ?? .keep
  }

  /// Returns the policy of a worker: `standard` with the overrides of its entry.
  package func policy(of name: String, standard: WorkerPolicy) -> WorkerPolicy {
    var policy = workers[name].map { standard.applying($0) } ?? standard
    // All code numbers the retry delays in this order.
    policy.retryDelays = policy.usableRetryDelays
    return policy
  }
}
