// Prints items as they arrive, for people or for scripts.

/// An item that can be shown on one line.
package protocol Reportable: Sendable {
  /// The columns of ``row``. All but the last have a fixed width, so one-row tables line up.
  static var columns: [TextColumn] { get }
  /// The cells of one table row.
  var row: [TextCell] { get }
  /// The item as one line of JSON, without a line feed.
  var jsonLine: String { get }
}

/// Prints items as rows or as JSON lines.
package struct Reporter<Item: Reportable>: Sendable {
  private let output: Output
  private let asJSON: Bool

  /// Creates a reporter.
  package init(_ output: Output, asJSON: Bool) {
    self.output = output
    self.asJSON = asJSON
  }

  /// Prints one item.
  /// - Throws: ``OperationError`` of kind `outputClosed` if the reader closed the output.
  package func report(_ item: Item) throws(OperationError) {
    if asJSON { return try output.line(item.jsonLine) }
    var table = StreamingTable(Item.columns, lineWidth: output.width, usesColor: output.usesColor)
    try output.lines(table.lines(item.row))
  }
}
