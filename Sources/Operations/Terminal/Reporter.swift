// Prints what happens as it happens, for people or for scripts.

/// Something that can be told in one line.
public protocol Reportable: Sendable {
  /// The columns of ``row``; of fixed width but for the last, so that a table of one row lines up with the others.
  static var columns: [TextColumn] { get }
  /// One line for a person.
  var row: [TextCell] { get }
  /// One object for a script, without a line feed.
  var jsonLine: String { get }
}

/// Prints items as rows or as JSON lines.
public struct Reporter<Item: Reportable>: Sendable {
  private let output: Output
  private let asJSON: Bool

  /// Prints to a place.
  public init(_ output: Output, asJSON: Bool) {
    self.output = output
    self.asJSON = asJSON
  }

  /// Prints one item.
  /// - Throws: ``OperationError`` of kind `outputClosed` where the reader is gone.
  public func report(_ item: Item) throws(OperationError) {
    if asJSON { return try output.line(item.jsonLine) }
    var table = StreamingTable(Item.columns, lineWidth: output.width, usesColor: output.usesColor)
    try output.lines(table.lines(item.row))
  }
}
