// How the simulated API behaves where Apple's is not documented, varies, or is to be tried otherwise.

/// Settings of a ``SimulatorServer``.
public struct SimulatorSettings: Sendable, Hashable {
  /// The address it listens on.
  public var host = "127.0.0.1"
  /// The port of the production API; 0: any free one; nil: not served.
  public var productionPort: Int? = 0
  /// The port of the sandbox API; 0: any free one; nil: not served.
  public var sandboxPort: Int? = 0
  /// Requests an hour.
  public var limits = LimitSettings()
  /// What Apple remembers of a `requestIdentifier`.
  public var requestMemory = RequestMemoryModel.everything
  /// What goes wrong from the beginning.
  public var faults: [Fault] = []
  /// How far a caller's clock may be off.
  public var tokenSkew = Duration.seconds(60)
  /// How long a `paginationToken` is good for. A `revision` does not expire: Apple advises to store it.
  public var paginationTokenLifetime = Duration.seconds(3_600)
  /// How long after a 429 requests may come that were under way when it was sent, without counting as a breach.
  public var callerGrace = Duration.seconds(10)
  /// How mass extensions proceed.
  public var massExtension = MassExtensionSettings()
  /// How refund requests end.
  public var refunds = RefundPolicy()
  /// How retention messaging fares.
  public var messaging = MessagingSettings()
  /// How many of the newest requests are kept in detail.
  public var journalCapacity = 1_000
  /// What decides by chance is decided by this.
  public var seed: UInt64 = 1

  /// The settings as Apple's API is documented, on free ports of the loopback address.
  public init() {}
}

/// How a mass extension proceeds. Apple says hours or days.
public struct MassExtensionSettings: Sendable, Hashable {
  /// From the request to the first subscription.
  public var startDelay: Duration
  /// From the first subscription to the last.
  public var duration: Duration
  /// The part of the subscriptions whose extension fails, to be tried again one by one.
  public var failureShare: Double

  /// A pace; the defaults take two hours and fail one in twenty.
  public init(
    startDelay: Duration = .seconds(60), duration: Duration = .seconds(2 * 3_600), failureShare: Double = 0.05
  ) {
    self.startDelay = startDelay
    self.duration = duration
    self.failureShare = failureShare
  }
}
