// Finds gaps in version 1 notifications, for which Apple keeps no history. The evidence is in the topics: an app that
// received version 1 notifications and then none for much longer than usual.

package import AppStore
internal import MillraceTime
internal import KafkaClient
package import MillraceCore
package import MillraceRecords

/// The version 1 notifications of one app and environment in a time range.
package struct VersionOneReport: Sendable, Hashable {
  /// The app and the environment.
  package var target: BackfillTarget
  /// The number of version 1 notifications in the two days before the range.
  package var before: Int
  /// The number of version 1 notifications in the range.
  package var within: Int
  /// The periods without notifications that are much longer than usual.
  package var silences: [Range<Timestamp>]

  /// The shortest gap that is reported.
  static let shortest = Duration.seconds(3_600)
  /// The ratio to the usual interval from which a gap is reported.
  static let factor = 20

  /// Finds gaps between the times at which notifications were written.
  ///
  /// - Parameters:
  ///   - moments: The times in any order, starting two days before `time`.
  ///   - time: The time range to examine.
  init(
    _ target: BackfillTarget, moments: [Timestamp], time: Range<Timestamp>,
    usualTime: Duration = VersionOneSurvey.usualTime
  ) {
    self.target = target
    let sorted = moments.sorted()
    before = sorted.count { $0 < time.lowerBound }
    within = sorted.count { time.contains($0) }
    let usual = before == 0 ? Self.shortest : usualTime / before
    let limit = max(Self.shortest, usual * Self.factor)
    silences = []
    // For an app without any version 1 notifications a gap means nothing.
    guard before + within > 0 else { return }
    var last = max(sorted.last { $0 < time.lowerBound } ?? time.lowerBound, time.lowerBound)
    for moment in sorted.filter({ time.contains($0) }) + [time.upperBound] {
      if moment - last > limit { silences.append(last..<moment) }
      last = moment
    }
  }

  /// A warning for the operator; nil if nothing seems to be missing.
  package var sentence: String? {
    guard let first = silences.first, let last = silences.last else { return nil }
    let when =
      silences.count == 1
      ? "from \(first.lowerBound.rfc3339) to \(first.upperBound.rfc3339)"
      : "in \(silences.count) gaps from \(first.lowerBound.rfc3339) to \(last.upperBound.rfc3339)"
    return
      "\(target): version 1, \(before) notifications in the two days before, none \(when). Apple keeps no history of "
      + "version 1: ask for the customers concerned with millrace api history, or set the URL to version 2"
  }
}

/// Finds gaps in version 1 notifications.
package enum VersionOneSurvey {
  /// The time before the range that shows what is usual.
  static let usualTime = Duration.seconds(2 * 86_400)

  /// Reads the headers of the records written in the time range and in the two days before it. Covers apps with a
  /// shared secret, because only those receive version 1.
  ///
  /// - Throws: `KafkaError`; `CancellationError`.
  package static func run(
    _ selection: BackfillSelection, _ configuration: MillraceConfiguration, _ catalog: TopicCatalog,
    on log: BackfillLog
  ) async throws -> [VersionOneReport] {
    let able = Set(configuration.apps.filter { !$0.sharedSecretFiles.isEmpty }.map(\.bundleId))
    let targets = selection.targets.filter { able.contains($0.bundleId) }
    guard !targets.isEmpty else { return [] }
    let topics = catalog.notificationTopics.filter { !$0.notifications.v1.isEmpty || $0.notifications.unrecognized }
    let since = selection.from - usualTime
    let clock = MillraceClock(configuration.clock)
    let moments = try await log.log.fold(
      topics.map(\.topic), since: since, by: clock, into: [BackfillTarget: [Timestamp]]()
    ) { moments, record in
      guard let written = record.time(by: clock), written < selection.to,
        case let envelope = NotificationEnvelope(record), envelope.version == .v1, let bundleId = envelope.bundleId,
        let environment = envelope.environment
      else { return }
      moments[BackfillTarget(bundleId: bundleId, environment: environment), default: []].append(written)
    }
    return targets.map {
      VersionOneReport($0, moments: moments[$0] ?? [], time: selection.from..<selection.to)
    }
  }
}
