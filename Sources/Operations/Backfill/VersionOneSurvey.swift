// Version 1 has no history at Apple. What can be known of a gap stands in the topics: an app that was told in version 1
// until then, and was silent for much longer than it usually is.

public import AppStore
internal import Kafka
public import Millrace

/// What the topics say of version 1 in one history's time.
public struct VersionOneReport: Sendable, Hashable {
  /// The app and the environment.
  public var target: BackfillTarget
  /// Notifications of version 1 in the two days before.
  public var before: Int
  /// Those in the time itself.
  public var within: Int
  /// Where none came for much longer than usual.
  public var silences: [Range<Timestamp>]

  /// The shortest silence that is told.
  static let shortest = Duration.seconds(3_600)
  /// How much longer than usual.
  static let factor = 20

  /// Judges the moments at which notifications were written.
  ///
  /// - Parameters:
  ///   - moments: in any order, from two days before `time` on.
  ///   - time: the time that is asked about.
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
    // An app that was told nothing before says nothing by its silence.
    guard before + within > 0 else { return }
    var last = max(sorted.last { $0 < time.lowerBound } ?? time.lowerBound, time.lowerBound)
    for moment in sorted.filter({ time.contains($0) }) + [time.upperBound] {
      if moment - last > limit { silences.append(last..<moment) }
      last = moment
    }
  }

  /// What an operator has to know; nil where nothing seems missing.
  public var sentence: String? {
    guard let first = silences.first, let last = silences.last else { return nil }
    let when =
      silences.count == 1
      ? "from \(first.lowerBound.rfc3339) to \(first.upperBound.rfc3339)"
      : "in \(silences.count) stretches from \(first.lowerBound.rfc3339) to \(last.upperBound.rfc3339)"
    return
      "\(target): version 1, \(before) notifications in the two days before, none \(when). Apple keeps no history of "
      + "version 1: ask for the customers concerned with millrace api history, or set the URL to version 2"
  }
}

/// Looks for gaps of version 1.
public enum VersionOneSurvey {
  /// How far before the time is looked for what is usual.
  static let usualTime = Duration.seconds(2 * 86_400)

  /// Reads the headers of what was written in the time and in the two days before it, for apps that have a shared secret:
  /// nobody else is told in version 1.
  ///
  /// - Throws: `KafkaError`; `CancellationError`.
  public static func run(
    _ selection: BackfillSelection, _ configuration: MillraceConfiguration, _ catalog: TopicCatalog,
    on log: BackfillLog
  ) async throws -> [VersionOneReport] {
    let able = Set(configuration.apps.filter { !$0.sharedSecretFiles.isEmpty }.map(\.bundleId))
    let targets = selection.targets.filter { able.contains($0.bundleId) }
    guard !targets.isEmpty else { return [] }
    let topics = catalog.notificationTopics.filter { !$0.notifications.v1.isEmpty || $0.notifications.unrecognized }
    let since = selection.from - usualTime
    let moments = Moments()
    try await log.log.scan(topics.map(\.topic), since: since) { record in
      guard let written = record.timestamp.map({ Timestamp(millisecondsSince1970: $0) }), written < selection.to,
        case let envelope = NotificationEnvelope(record), envelope.version == .v1, let bundleId = envelope.bundleId,
        let environment = envelope.environment
      else { return }
      await moments.add(written, of: BackfillTarget(bundleId: bundleId, environment: environment))
    }
    let found = await moments.byTarget
    return targets.map {
      VersionOneReport($0, moments: found[$0] ?? [], time: selection.from..<selection.to)
    }
  }

  private actor Moments {
    private(set) var byTarget: [BackfillTarget: [Timestamp]] = [:]
    func add(_ moment: Timestamp, of target: BackfillTarget) { byTarget[target, default: []].append(moment) }
  }
}
