import AppStoreSigning
import Testing

@testable import MillraceWorker

@Suite struct CompactTableTests {
  @Test(arguments: 0..<40 as Range<UInt64>)
  func `a table agrees with a dictionary`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var table = CompactTable()
    var model: [String: [UInt8]] = [:]
    let names =
      (0..<Int.random(in: 1...2_000, using: &random)).map { ["subscription/\($0)", "\($0 * 7_919)", "0\($0)"][$0 % 3] }
      + [
        "", "ü", "9999999999999999999", "18446744073709551615", "99999999999999999999",
      ]
    for _ in 0..<10_000 {
      let name = names.randomElement(using: &random) ?? ""
      if Int.random(in: 0..<4, using: &random) == 0 {
        table[name] = nil
        model[name] = nil
      } else {
        let value = [UInt8](
          repeating: .random(in: 0...255, using: &random), count: .random(in: 0...300, using: &random))
        table[name] = value
        model[name] = value
      }
      #expect(table.count == model.count)
    }
    for name in names { #expect(table[name] == model[name], "seed \(seed): \(name)") }
    for name in names { table[name] = nil }
    #expect(table.count == 0)
  }

  /// A long value has a block of its own, whose capacity the allocator rounds up. A short value behind it had an address
  /// that named another block: states came back as null, and reading one trapped.
  @Test(arguments: 0..<10 as Range<UInt64>)
  func `values longer than a block agree with a dictionary, among short ones`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var table = CompactTable()
    var model: [String: (byte: UInt8, count: Int)] = [:]
    let names = (0..<3_000).map { ["timer/\($0)", "\($0 * 7_919)"][$0 % 2] }
    func check(_ name: String) -> Bool {
      guard let value = table[name] else { return model[name] == nil }
      guard let expected = model[name], value.count == expected.count else { return false }
      return value.withUnsafeBufferPointer { bytes in
        // All bytes of a short value, and some of a long one.
        stride(from: 0, to: bytes.count, by: max(1, bytes.count / 64)).allSatisfy { bytes[$0] == expected.byte }
          && bytes.last == expected.byte
      }
    }
    for step in 0..<100_000 {
      let index = Int.random(in: 0..<names.count, using: &random)
      let name = names[index]
      if Int.random(in: 0..<8, using: &random) == 0 {
        table[name] = nil
        model[name] = nil
      } else {
        let count: Int =
          switch index % 64 {
          case 0: .random(in: 16_385...262_144, using: &random)
          // An entry of 16,384 bytes fits in a block exactly; one byte more does not.
          case 1: .random(in: 16_360...16_400, using: &random)
          default: .random(in: 5...64, using: &random)
          }
        let byte = UInt8.random(in: 0...255, using: &random)
        table[name] = [UInt8](repeating: byte, count: count)
        model[name] = (byte, count)
      }
      let other = names[Int.random(in: 0..<names.count, using: &random)]
      guard check(name), check(other), table.count == model.count else {
        Issue.record("seed \(seed), step \(step): \(name) or \(other) differs")
        return
      }
    }
    for name in names where !check(name) { Issue.record("seed \(seed): \(name) differs") }
  }

  @Test func `a copy keeps its values`() {
    var table = CompactTable()
    table["a"] = [1]
    let copy = table
    table["a"] = [2, 3]
    #expect(copy["a"] == [1] && table["a"] == [2, 3])
  }

  @Test func `names and values may be long`() {
    var table = CompactTable()
    let name = String(repeating: "n", count: 70_000)
    let value = [UInt8](repeating: 7, count: 1_000_000)
    table[name] = value
    #expect(table[name] == value && table["n"] == nil)
  }

  @Test func `a value takes its name, its bytes and at most 30 bytes more, after many changes`() {
    var table = CompactTable()
    let count = 200_000
    for round in 0..<3 {
      for number in 0..<count {
        table["\(2_000_000_000_000_000 + number)"] = [UInt8](repeating: 1, count: 195 + (number + round) % 10)
      }
    }
    let each = table.bytes / count
    #expect(each <= 16 + 200 + 30, "\(each)")
    print("compact table: \(each) bytes for a name of 16 and a value of 195 to 204 bytes")
  }
}
