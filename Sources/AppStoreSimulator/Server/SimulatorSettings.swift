// Settings of the simulated API, for behaviour that Apple does not document, that varies, or that a test needs to
// change.

/// Settings of a ``SimulatorServer``.
package struct SimulatorSettings: Sendable, Hashable {
  /// The address to listen on.
  package var host = "127.0.0.1"
  /// The port of the production API; 0 for any free port; nil to not serve it.
  package var productionPort: Int? = 0
  /// The port of the sandbox API; 0 for any free port; nil to not serve it.
  package var sandboxPort: Int? = 0
  /// The hourly limits.
  package var limits = LimitSettings()
  /// The requests that Apple remembers by their `requestIdentifier`.
  package var requestMemory = RequestMemoryModel.everything
  /// The faults that are active from the beginning.
  package var faults: [Fault] = []
  /// The tolerated difference between a caller's clock and the simulator's.
  package var tokenSkew = Duration.seconds(60)
  /// The lifetime of a `paginationToken`. A `revision` does not expire, because Apple recommends storing it.
  package var paginationTokenLifetime = Duration.seconds(3_600)
  /// The time after a 429 in which further requests do not count as a breach, because they may already have been in
  /// flight.
  package var callerGrace = Duration.seconds(10)
  /// The settings of mass extensions.
  package var massExtension = MassExtensionSettings()
  /// The decisions about refund requests.
  package var refunds = RefundPolicy()
  /// The settings of retention messaging.
  package var messaging = MessagingSettings()
  /// The number of newest requests to keep in detail.
  package var journalCapacity = 1_000
  /// The seed for all random decisions.
  package var seed: UInt64 = 1

  /// The settings that match Apple's documentation, on free ports of the loopback address.
  package init() {}
}

/// The timing and failures of a mass extension. According to Apple, it takes hours or days.
package struct MassExtensionSettings: Sendable, Hashable {
  /// The time from the request to the first subscription.
  package var startDelay: Duration
  /// The time from the first subscription to the last.
  package var duration: Duration
  /// The share of subscriptions whose extension fails, so that the team has to extend them individually.
  package var failureShare: Double

  /// Settings. By default, a mass extension takes two hours and fails for one subscription in twenty.
  package init(
    startDelay: Duration = .seconds(60), duration: Duration = .seconds(2 * 3_600), failureShare: Double = 0.05
  ) {
    self.startDelay = startDelay
    self.duration = duration
    self.failureShare = failureShare
  }
}
