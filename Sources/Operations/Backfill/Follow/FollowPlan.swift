// The next requests of `--follow`. Apple's history also reveals outages on our side: it lists every failed delivery for
// as long as Apple keeps the history, whichever component was down. A value without a clock.

internal import AppStore

/// The settings of `--follow`.
package struct FollowSettings: Sendable, Hashable {
  /// The pause between two passes.
  package var interval = Duration.seconds(5 * 60)
  /// The overlap of a pass with the one before: an attempt can fail an hour after its notification was signed.
  package var overlap = Duration.seconds(3_600)
  /// The time range of a sweep and of the first pass: Apple's last attempt comes 157 hours after the first. It must not
  /// exceed the workers' `ledger.horizon`, because workers would handle older notifications again.
  package var lookBack = Duration.seconds(8 * 86_400)
  /// The interval between sweeps.
  package var sweepInterval = Duration.seconds(6 * 3_600)
  /// The longest time range of one request. The progress is stored after each.
  package var chunk = Duration.seconds(6 * 3_600)

  /// The defaults.
  package init() {}
}

/// The requests of one pass over one history.
struct FollowPlan: Sendable, Hashable {
  /// The time ranges, oldest first.
  var spans: [Range<Timestamp>]
  /// Whether the pass covers all of ``FollowSettings/lookBack``.
  var isSweep: Bool

  init(
    _ environment: AppStoreEnvironment, after mark: FollowMark?, now: Timestamp, _ settings: FollowSettings
  ) {
    let horizon = now - min(settings.lookBack, NotificationHistoryRequest.window(of: environment) - .seconds(3_600))
    isSweep = mark.map { now - $0.sweptAt >= settings.sweepInterval } ?? true
    // This process may have been down for longer than `lookBack`: request all that Apple still keeps since the mark.
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

  /// The mark after a time range was written to Kafka.
  func mark(after span: Range<Timestamp>, _ mark: FollowMark?, startedAt: Timestamp) -> FollowMark {
    FollowMark(
      through: max(mark?.through ?? span.upperBound, span.upperBound),
      sweptAt: isSweep && span == spans.last ? startedAt : mark?.sweptAt ?? Timestamp(millisecondsSince1970: 0))
  }
}
