// Where notifications go, and what is to be out of the ordinary on the way.

public import AppStore
internal import AppStoreSigning

/// The URL that a team registered for one app in one environment.
public struct Destination: Sendable, Hashable {
  /// Where to post.
  public var url: String
  /// What is posted there.
  public var version: NotificationVersion

  /// A registered URL.
  public init(url: String, version: NotificationVersion = .v2) {
    self.url = url
    self.version = version
  }
}

/// How notifications are delivered; the defaults do as Apple documents and was measured.
public struct DeliverySettings: Sendable, Hashable {
  /// A time in which Apple sends nothing; what happens in it is sent at its end, all at once.
  public struct Pause: Sendable, Hashable {
    /// The first moment without delivery.
    public var from: Timestamp
    /// The first moment with delivery again.
    public var until: Timestamp

    /// A pause.
    public init(from: Timestamp, until: Timestamp) {
      self.from = from
      self.until = until
    }
  }

  /// The shortest and the longest time from a notification's date to its first attempt.
  public var latency: ClosedRange<Duration> = .milliseconds(120)...Duration.milliseconds(600)
  /// The part of the notifications that are sent twice, though the first was acknowledged.
  public var duplicates = 0.0
  /// The longest time from a delivery to its duplicate.
  public var duplicatesWithin = Duration.seconds(60)
  /// The part of the notifications that are held back, so that later ones of the same subscription overtake them.
  public var reordered = 0.0
  /// The longest time that they are held back.
  public var reorderedBy = Duration.seconds(300)
  /// Deliveries are gathered and sent at every multiple of this time; nil: each at its own.
  public var burstEvery: Duration?
  /// Times without delivery.
  public var pauses: [Pause] = []
  /// Whether an answer from 400 to 499 is followed by retries. Apple was seen to give up on it at once.
  public var retriesAfterClientError = true
  /// Deliveries under way at one time, of each app in each environment: whose endpoint is slow delays nobody else.
  public var concurrency = 32
  /// How long an answer may take, in real time.
  public var timeout = Duration.seconds(10)

  /// The defaults.
  public init() {}
}

/// What is decided about a notification before it is sent, by its UUID: the same in every run of a seed.
struct DeliveryPlan: Sendable, Hashable {
  /// When the first attempt is made.
  let first: Timestamp
  /// When it is sent once more, whatever came of the first; nil: not.
  let duplicate: Timestamp?

  init(_ facts: NotificationFacts, _ settings: DeliverySettings) {
    var generator = SeededGenerator(seed: facts.uuid.low)
    let draws = (0..<4).map { _ in Double.random(in: 0..<1, using: &generator) }
    // One subject, one latency: what happened first is sent first.
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
  /// The moment at which something that is ready at `moment` is sent.
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
  /// Whole milliseconds.
  var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
