// Counting requests by the hour. Apple does not say where its hours begin; here they are those of the clock.

internal import AppStore

/// The requests of each app, environment and endpoint in the present hour.
struct HourlyLimits: Sendable {
  /// Whose requests are counted together.
  struct Subject: Sendable, Hashable {
    var bundleId: String
    var environment: AppStoreEnvironment
    var endpoint: APIEndpoint
  }

  /// What became of a request.
  enum Verdict: Sendable, Hashable {
    case admitted
    /// Refused; the next hour begins at that moment.
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
  /// The fullest hour of each subject so far.
  private(set) var fullest: [Subject: Usage] = [:]

  init(_ settings: LimitSettings) { self.settings = settings }

  private static let hour: Int64 = 3_600_000

  /// Counts a request. Refused ones do not use up the limit.
  mutating func count(_ subject: Subject, now: Timestamp) -> Verdict {
    let start = Self.startOfHour(now)
    var usage = current[subject] ?? Usage(hour: start)
    // A wall clock that is set back does not give an hour twice.
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
