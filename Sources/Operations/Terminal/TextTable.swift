// A table with known rows. Each column is as wide as its widest cell or heading.

/// Formats a complete table.
package enum TextTable {
  /// The lines of a table with headings; empty if there are no rows.
  ///
  /// - Parameters:
  ///   - lineWidth: The number of columns of the terminal; nil puts each row on one line.
  ///   - usesColor: Whether to apply styles.
  package static func lines(
    _ columns: [TextColumn], rows: [[TextCell]], lineWidth: Int?, usesColor: Bool
  ) -> [String] {
    guard !rows.isEmpty else { return [] }
    let measured = columns.enumerated().map { index, column in
      let widest = rows.map { index < $0.count ? TerminalText.width($0[index].text) : 0 }.max() ?? 0
      return TextColumn(
        column.title, minimumWidth: max(column.minimumWidth, widest), alignment: column.alignment)
    }
    var table = StreamingTable(measured, lineWidth: lineWidth, usesColor: usesColor)
    return table.header() + rows.flatMap { table.lines($0) }
  }
}
