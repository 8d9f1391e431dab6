// What `--follow` asks next. Apple's own history is what tells an outage of ours: whatever Apple could not deliver stands
// in it as a failure, whoever was down, and for as long as Apple keeps it. A value without clock.

internal import AppStore

/// How `--follow` goes about it.
public struct FollowSettings: Sendable, Hashable {
  /// From the end of one pass to the beginning of the next.
  public var interval = Duration.seconds(5 * 60)
  /// How far each pass looks behind the one before: an attempt can fail an hour after its notification was signed.
  public var overlap = Duration.seconds(3_600)
  /// How far back is looked now and then, and at the first start: Apple's last attempt comes 157 hours after the first.
  /// What workers handled longer ago than their `ledger.horizon` they would handle again: this is not to exceed it.
  public var lookBack = Duration.seconds(8 * 86_400)
  /// How often that is.
  public var sweepInterval = Duration.seconds(6 * 3_600)
  /// The longest time asked for at once; how far it is is kept behind each.
  public var chunk = Duration.seconds(6 * 3_600)

  /// The defaults.
  public init() {}
}

/// What one pass over one history asks.
struct FollowPlan: Sendable, Hashable {
  /// The spans, the oldest first.
  var spans: [Range<Timestamp>]
  /// Whether it looks back over all of ``FollowSettings/lookBack``.
  var isSweep: Bool

  init(
    _ environment: AppStoreEnvironment, after mark: FollowMark?, now: Timestamp, _ settings: FollowSettings
  ) {
    let horizon = now - min(settings.lookBack, NotificationHistoryRequest.window(of: environment) - .seconds(3_600))
    isSweep = mark.map { now - $0.sweptAt >= settings.sweepInterval } ?? true
    // An outage of this process may have been longer than Apple is looked back at: whatever is left of it is asked for.
    let reach = now - NotificationHistoryRequest.window(of: environment) + .seconds(3_600)
    var from = mark.map { max($0.through - settings.overlap, reach) } ?? horizon
    if isSweep { from = min(from, horizon) }
    spans = []
    while from < now {
      let end = min(from + settings.chunk, now)
      spans.append(from..<end)
      from = end
    }
  }

  /// The mark once a span is in Kafka.
  func mark(after span: Range<Timestamp>, _ mark: FollowMark?, startedAt: Timestamp) -> FollowMark {
    FollowMark(
      through: max(mark?.through ?? span.upperBound, span.upperBound),
      sweptAt: isSweep && span == spans.last ? startedAt : mark?.sweptAt ?? Timestamp(millisecondsSince1970: 0))
  }
}
