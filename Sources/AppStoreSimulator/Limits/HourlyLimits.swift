// Counts requests by the hour. Apple does not document when its hours begin; here they are the clock's.

internal import AppStore

/// The requests of each app, environment and endpoint in the current hour.
struct HourlyLimits: Sendable {
  /// The requests that count against one limit.
  struct Subject: Sendable, Hashable {
    var bundleId: String
    var environment: AppStoreEnvironment
    var endpoint: SimulatedEndpoint
  }

  /// The decision about a request.
  enum Decision: Sendable, Hashable {
    case admitted
    /// Rejected; the next hour begins at `until`.
    case refused(until: Timestamp, announcedBefore: Bool)
  }

  /// One hour of one subject.
  struct Usage: Sendable, Hashable {
    /// The hour's first millisecond.
    var hour: Timestamp
    var admitted = 0
    var refused = 0
  }

  var settings: LimitSettings
  private(set) var current: [Subject: Usage] = [:]
  /// The busiest hour of each subject so far.
  private(set) var fullest: [Subject: Usage] = [:]

  init(_ settings: LimitSettings) { self.settings = settings }

  private static let hour: Int64 = 3_600_000

  /// Counts a request. Rejected requests do not count against the limit.
  mutating func count(_ subject: Subject, now: Timestamp) -> Decision {
    let start = Self.startOfHour(now)
    var usage = current[subject] ?? Usage(hour: start)
    // If the clock is set back, an hour does not start again.
    if start > usage.hour { usage = Usage(hour: start) }
    defer {
      current[subject] = usage
      if usage.admitted >= fullest[subject]?.admitted ?? 0 { fullest[subject] = usage }
    }
    guard let limit = settings.perHour(subject.endpoint, in: subject.environment), usage.admitted >= limit else {
      usage.admitted += 1
      return .admitted
    }
    usage.refused += 1
    return .refused(
      until: Timestamp(millisecondsSince1970: usage.hour.millisecondsSince1970 + Self.hour),
      announcedBefore: usage.refused > 1)
  }

  private static func startOfHour(_ moment: Timestamp) -> Timestamp {
    let remainder = moment.millisecondsSince1970 % hour
    return Timestamp(
      millisecondsSince1970: moment.millisecondsSince1970 - (remainder < 0 ? remainder + hour : remainder))
  }
}
