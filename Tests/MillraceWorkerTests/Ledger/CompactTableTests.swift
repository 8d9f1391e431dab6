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
