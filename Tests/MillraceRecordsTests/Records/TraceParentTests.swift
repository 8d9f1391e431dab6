import AppStoreSigning
import Testing

@testable import MillraceRecords

@Suite struct TraceParentTests {
  private static let valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

  @Test(arguments: [
    valid, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
  ])
  func `A valid header is passed on unchanged`(text: String) throws {
    #expect(try #require(TraceParent(text)).description == text)
    #expect(TraceParent.continuing(text).description == text)
  }

  @Test(arguments: [
    "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-09",
  ])
  func `Later versions and unknown flags are read as version 00`(text: String) throws {
    #expect(try #require(TraceParent(text)).description == Self.valid)
  }

  @Test(arguments: [
    "", "00", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
    "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0é",
    "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01", " \(valid)",
  ])
  func `An invalid header begins a new trace`(text: String) throws {
    #expect(TraceParent(text) == nil)
    let new = TraceParent.continuing(text)
    #expect(TraceParent(new.description) == new)
  }

  @Test func `A new trace is valid and not sampled`() throws {
    let seed: UInt64 = 42
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let new = TraceParent(using: &generator)
      #expect(TraceParent(new.description) == new, "seed \(seed)")
      #expect(!new.isSampled)
    }
  }
}
