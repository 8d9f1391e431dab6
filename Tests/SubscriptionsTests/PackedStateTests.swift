// The compact form of a state: what is written can be read, and bad bytes are an error.

import AppStore
import AppStoreSigning
import Testing

@testable import Subscriptions

@Suite struct PackedStateTests {
  @Test(arguments: SubscriptionPropertyTests.seeds)
  func `a state that was stored is the same when it is read`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let story = SubscriptionPropertyTests.story(&random)
    var state = SubscriptionState()
    for report in story.reports {
      state.apply(report)
      #expect(try SubscriptionState(packed: state.packed) == state, "seed \(seed)")
    }
    if let answer = story.answer() { state.apply(answer) }
    #expect(try SubscriptionState(packed: state.packed) == state, "seed \(seed)")
  }

  @Test(arguments: SubscriptionPropertyTests.seeds)
  func `damaged bytes are an error or another state, never a crash`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var state = SubscriptionState()
    for report in SubscriptionPropertyTests.story(&random).reports { state.apply(report) }
    for _ in 0..<50 {
      var bytes = state.packed
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        bytes[place] = UInt8.random(in: 0...255, using: &random)
      }
      if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
      do { _ = try SubscriptionState(packed: bytes).subscription } catch { #expect(error.offset <= bytes.count) }
    }
  }

  @Test func `a later format is an error`() {
    var writer = PackedWriter()
    writer.put(1, .number(2))
    let later = writer.bytes
    #expect(throws: PackedError.self) { try SubscriptionState(packed: later) }
  }

  @Test func `texts keep their form`() throws {
    let texts = [
      "", "0", "007", "2000000123456789", "18446744073709551615", "18446744073709551616", "com.example.pro",
      "c0ffee00-1234-4abc-8def-0123456789ab", "C0FFEE00-1234-4ABC-8DEF-0123456789AB", "ü", "-1",
    ]
    var writer = PackedWriter()
    for (index, text) in texts.enumerated() { writer.put(index, .text(text)) }
    let numbers: [Int64] = [0, -1, .max, .min, 1_767_225_600_000]
    for (index, number) in numbers.enumerated() { writer.put(100 + index, .number(number)) }
    let reader = try PackedReader(writer.bytes)
    for (index, text) in texts.enumerated() { #expect(reader.text(index) == text) }
    #expect((100..<105).map { reader.number($0) } == numbers)
  }

  @Test func `a usual state takes fewer than 220 bytes`() throws {
    var story = Story(id: "2000000123456789", isDetailed: true)
    story.renew()
    story.renew()
    story.setRenewal(false)
    var state = SubscriptionState()
    for report in story.reports { state.apply(report) }
    #expect(state.periods.count == 2)
    #expect(state.packed.count < 220, "\(state.packed.count)")
    print("a packed state with two periods: \(state.packed.count) bytes")
  }
}
