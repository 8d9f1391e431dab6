import AppStore
import AppStoreSigning
import MillraceTime
import MillraceRecords
import MillraceTesting
import Testing

@testable import Operations
import MillraceCore

@Suite("Gaps in version 1")
struct VersionOneSurveyTests {
  private let from = Timestamp(millisecondsSince1970: 1_767_225_600_000)
  private let target = BackfillTarget(bundleId: "com.example.app", environment: .production)
  private var to: Timestamp { from + .seconds(3 * 86_400) }

  private func every(_ step: Duration, from: Timestamp, to: Timestamp) -> [Timestamp] {
    var moments: [Timestamp] = []
    var moment = from
    while moment < to {
      moments.append(moment)
      moment = moment + step
    }
    return moments
  }

  @Test("an app whose notifications stop is reported with the time of the gap")
  func silence() throws {
    let before = every(.seconds(300), from: from - .seconds(2 * 86_400), to: from + .seconds(6 * 3_600))
    let after = every(.seconds(300), from: from + .seconds(30 * 3_600), to: to)
    let report = VersionOneReport(target, moments: (before + after).reversed(), time: from..<to)
    #expect(report.before == 576 && report.silences.count == 1)
    let silence = try #require(report.silences.first)
    #expect(silence.lowerBound == from + .seconds(6 * 3_600 - 300) && silence.upperBound == from + .seconds(30 * 3_600))
    #expect(report.sentence?.contains("576 notifications") == true && report.sentence?.contains("history") == true)
  }

  @Test("a gap up to the end counts, a gap of usual length does not, and an app without notifications has none")
  func others() {
    let gone = VersionOneReport(
      target, moments: every(.seconds(600), from: from - .seconds(86_400), to: from), time: from..<to)
    #expect(gone.silences == [from..<to])
    let rare = VersionOneReport(
      target, moments: every(.seconds(40 * 3_600), from: from - .seconds(2 * 86_400), to: to), time: from..<to)
    #expect(rare.silences.isEmpty && rare.sentence == nil)
    #expect(VersionOneReport(target, moments: [], time: from..<to).sentence == nil)
  }

  @Test("the survey reads the topics' headers, for apps with a shared secret")
  func topics() async throws {
    let time = ManualClock(start: Fixture.signedDate)
    let fixture = try Fixture()
    var configuration = fixture.configuration()
    let log = InMemoryLog(clock: time.clock)
    for topic in fixture.catalog.topics { try log.createTopic(topic.topic, partitions: topic.lanes) }
    for seed in 0..<20 as Range<UInt64> {
      let body = fixture.sampleV1(.didRenew, seed: seed)
      try log.append(try fixture.record(v1: body).producerRecord)
      time.advance(by: .seconds(3_600))
    }
    let envelope = NotificationEnvelope(log.records(in: NotificationFamily.subscriptions.topic)[0])
    let target = BackfillTarget(
      bundleId: fixture.app.bundleId, environment: try #require(envelope.environment))
    let from = time.clock.wallTime
    time.advance(by: .seconds(10 * 86_400))
    let selection = BackfillSelection(targets: [target], from: from, to: time.clock.wallTime)
    let runs = BackfillLog(on: log, prefix: "")
    let reports = try await VersionOneSurvey.run(selection, configuration, fixture.catalog, on: runs)
    #expect(reports.map(\.before) == [20] && reports.first?.silences == [from..<time.clock.wallTime])
    configuration.apps[0].sharedSecretFiles = []
    #expect(try await VersionOneSurvey.run(selection, configuration, fixture.catalog, on: runs).isEmpty)
  }
}
