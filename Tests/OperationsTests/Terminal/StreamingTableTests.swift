import AppStoreSigning
import Operations
import Testing

@Suite("Tables that are printed row by row")
struct StreamingTableTests {
  private let columns = [
    TextColumn("WHEN", minimumWidth: 5), TextColumn("PRICE", minimumWidth: 6, alignment: .right), TextColumn("WHAT"),
  ]

  @Test("fields are aligned under their headings, numbers to the right, without trailing spaces")
  func aligned() {
    var table = StreamingTable(columns, lineWidth: nil, usesColor: false)
    #expect(table.header() == ["WHEN    PRICE  WHAT"])
    #expect(table.lines(["09:00", "9.99", "renewed"]) == ["09:00    9.99  renewed"])
    #expect(table.lines(["09:01", "", ""]) == ["09:01"])
  }

  @Test("a column that widens stays wide")
  func widens() {
    var table = StreamingTable(columns, lineWidth: nil, usesColor: false)
    _ = table.lines(["yesterday", "1", "a"])
    #expect(table.lines(["now", "1", "b"]) == ["now             1  b"])
  }

  @Test("columns that do not fit the terminal continue on the next lines, without losing fields")
  func wraps() {
    var table = StreamingTable(columns, lineWidth: 16, usesColor: false)
    #expect(table.lines(["09:00", "9.99", "renewed"]) == ["09:00    9.99", "    renewed"])
  }

  @Test("missing fields are empty")
  func short() {
    var table = StreamingTable(columns, lineWidth: nil, usesColor: false)
    #expect(table.lines(["09:00"]) == ["09:00"])
    #expect(table.lines([]).isEmpty)
  }

  @Test("styles do not count towards the width")
  func styled() {
    var table = StreamingTable([TextColumn("A", minimumWidth: 3), TextColumn("B")], lineWidth: nil, usesColor: true)
    #expect(table.lines([TextCell("x", .red), "y"]) == ["\u{1B}[31mx\u{1B}[0m    y"])
  }

  @Test("no line is wider than the terminal, whatever the fields contain")
  func fits() {
    let seed: UInt64 = 20_260_101
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array("abc 東京👍ä\u{1B}\n")
    for width in [10, 33, 80] {
      var table = StreamingTable(columns, lineWidth: width, usesColor: false)
      for _ in 0..<200 {
        let row = columns.indices.map { _ in
          TextCell(
            String(
              (0..<Int.random(in: 0..<30, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? "x"
              }))
        }
        for line in table.lines(row) {
          #expect(TerminalText.width(line) <= width, "seed \(seed), width \(width): \(line)")
        }
      }
    }
  }

  @Test("a buffered table is as wide as its widest fields")
  func whole() {
    let lines = TextTable.lines(
      [TextColumn("ID"), TextColumn("N", alignment: .right)], rows: [["a", "1"], ["abcdef", "1000"]], lineWidth: nil,
      usesColor: false)
    #expect(lines == ["ID         N", "a          1", "abcdef  1000"])
    #expect(TextTable.lines([TextColumn("ID")], rows: [], lineWidth: nil, usesColor: false).isEmpty)
  }
}
