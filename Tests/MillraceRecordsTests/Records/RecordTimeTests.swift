// Tests the time of a record with a real and with a simulated clock.

import AppStore
import MillraceTime
import KafkaClient
import Testing

@testable import MillraceCore
@testable import MillraceRecords

@Suite struct RecordTimeTests {
  private static let real = Timestamp(millisecondsSince1970: 1_795_000_000_000)
  private static let rehearsed = Timestamp(millisecondsSince1970: 1_772_000_000_000)
  /// A simulated clock, as `clock: {origin: …}` configures it, months in the past.
  private let simulated = MillraceClock(origin: rehearsed, rate: 1)

  private static func record(_ headers: [RecordHeader]) -> ConsumerRecord {
    ConsumerRecord(
      topic: "t", partition: 0, offset: 0, timestamp: real.millisecondsSince1970, key: nil, value: nil,
      headers: headers)
  }

  private static func header(_ time: Timestamp) -> RecordHeader {
    RecordHeader("millrace-time", String(time.millisecondsSince1970))
  }

  @Test func `a rehearsal writes its time in a header next to the real timestamp`() throws {
    let before = simulated.wallTime
    let record = ProducerRecord(topic: "t", value: nil).timed(by: simulated)
    #expect(record.timestamp == nil, "retention counts from the real time of writing")
    let written = try #require(Self.record(record.headers).time(by: simulated))
    #expect(written >= before && written <= simulated.wallTime)
  }

  @Test func `a copy has the time of its writing`() throws {
    let record = ProducerRecord(topic: "t", value: nil, headers: [Self.header(Self.rehearsed - .seconds(9))])
    let copy = record.timed(by: simulated)
    #expect(copy.headers.count == 1)
    #expect(try #require(Self.record(copy.headers).time(by: simulated)) >= Self.rehearsed)
  }

  @Test func `with real time the header is neither written nor read`() {
    let record = ProducerRecord(topic: "t", value: nil)
    #expect(record.timed(by: .system) == record)
    #expect(record.timed(by: MillraceClock(ClockSettings())) == record)
    #expect(record.timed(by: ManualClock().clock) == record)
    #expect(Self.record([Self.header(Self.rehearsed)]).time(by: .system) == Self.real)
  }

  @Test(arguments: [[], [RecordHeader("millrace-time", "soon")], [RecordHeader(name: "millrace-time", value: nil)]])
  func `a rehearsal uses the timestamp of a record without the header`(headers: [RecordHeader]) {
    #expect(Self.record(headers).time(by: simulated) == Self.real)
  }

  @Test func `the last of two headers counts`() {
    let headers = [Self.header(Self.real), Self.header(Self.rehearsed)]
    #expect(Self.record(headers).time(by: simulated) == Self.rehearsed)
  }
}
