// The destinations of notifications and the settings of their delivery.

package import AppStore
internal import AppStoreSigning

/// The URL that a team registered for one app in one environment.
package struct Destination: Sendable, Hashable {
  /// The URL to post to.
  package var url: String
  /// The version of the notifications.
  package var version: NotificationVersion

  /// A registered URL.
  package init(url: String, version: NotificationVersion = .v2) {
    self.url = url
    self.version = version
  }
}

/// The delivery settings. The defaults match Apple's documentation and measurements.
package struct DeliverySettings: Sendable, Hashable {
  /// A period in which Apple sends nothing. The notifications of that period are sent together at its end.
  package struct Pause: Sendable, Hashable {
    /// The beginning of the pause.
    package var from: Timestamp
    /// The end of the pause.
    package var until: Timestamp

    /// A pause.
    package init(from: Timestamp, until: Timestamp) {
      self.from = from
      self.until = until
    }
  }

  /// The shortest and longest time from a notification's date to its first attempt.
  package var latency: ClosedRange<Duration> = .milliseconds(120)...Duration.milliseconds(600)
  /// The share of notifications that are sent twice, even if the first was acknowledged.
  package var duplicates = 0.0
  /// The longest time from a delivery to its duplicate.
  package var duplicatesWithin = Duration.seconds(60)
  /// The share of notifications that are delayed, so that later ones of the same subscription overtake them.
  package var reordered = 0.0
  /// The longest such delay.
  package var reorderedBy = Duration.seconds(300)
  /// The interval at which notifications are sent in bursts; nil to send each at its own time.
  package var burstEvery: Duration?
  /// The periods without delivery.
  package var pauses: [Pause] = []
  /// Whether a response from 400 to 499 is retried. Apple has been observed to give up immediately.
  package var retriesAfterClientError = true
  /// The number of concurrent deliveries for each app and environment. A slow endpoint does not delay the others.
  package var concurrency = 32
  /// The time limit for a response, in real time.
  package var timeout = Duration.seconds(10)

  /// The defaults.
  package init() {}
}

/// The delivery times of a notification, derived from its UUID so that they are the same in every run with a seed.
struct DeliveryPlan: Sendable, Hashable {
  /// The time of the first attempt.
  let first: Timestamp
  /// The time of a deliberate duplicate, regardless of the first attempt's outcome; nil for none.
  let duplicate: Timestamp?

  init(_ facts: NotificationFacts, _ settings: DeliverySettings) {
    var generator = SeededGenerator(seed: facts.uuid.low)
    let draws = (0..<4).map { _ in Double.random(in: 0..<1, using: &generator) }
    // All notifications of a subject have the same latency, so they are sent in the order they happened.
    var subject = SeededGenerator(seed: facts.subject)
    let spread = settings.latency.upperBound - settings.latency.lowerBound
    let latency = settings.latency.lowerBound + spread * Double.random(in: 0..<1, using: &subject)
    let held = draws[0] < settings.reordered ? settings.reorderedBy * draws[1] : .zero
    first = settings.moment(for: facts.signedDate + latency + held)
    let later = facts.signedDate + latency + held + settings.duplicatesWithin * draws[3]
    duplicate = draws[2] < settings.duplicates ? settings.moment(for: later) : nil
  }
}

extension DeliverySettings {
  /// Returns the time at which a notification that is ready at `moment` is sent.
  func moment(for moment: Timestamp) -> Timestamp {
    var moment = moment
    if let burstEvery, burstEvery > .zero {
      let interval = max(1, burstEvery.milliseconds)
      let count = (moment.millisecondsSince1970 + interval - 1) / interval
      moment = Timestamp(millisecondsSince1970: count * interval)
    }
    for pause in pauses.sorted(by: { $0.from < $1.from }) where pause.from <= moment && moment < pause.until {
      moment = pause.until
    }
    return moment
  }
}

extension NotificationFacts {
  fileprivate var subject: UInt64 {
    switch content {
    case .purchase(let transaction, _, _): UInt64(bitPattern: transaction.originalId)
    default: uuid.high
    }
  }
}

extension Duration {
  /// The duration in whole milliseconds.
  var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
