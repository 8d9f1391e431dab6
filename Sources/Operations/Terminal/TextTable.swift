// A table whose rows are all known: columns as wide as their widest field, headings included.

/// Lays out a whole table.
public enum TextTable {
  /// The lines of a table with headings; no lines at all where there are no rows.
  ///
  /// - Parameters:
  ///   - lineWidth: columns of the terminal; nil puts each row on one line.
  ///   - usesColor: whether styles are applied.
  public static func lines(
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
