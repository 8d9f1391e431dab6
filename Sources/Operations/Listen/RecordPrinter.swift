// Shows records one after the other, as rows or as JSON lines, until there were enough. The only state of a listener.

public import Kafka

/// Prints records of many partitions in the order in which they come to it.
public actor RecordPrinter {
  private let output: Output
  private let asJSON: Bool
  private let limit: Int?
  private var table: StreamingTable
  private var printed = 0

  /// Prints to a place.
  ///
  /// - Parameters:
  ///   - asJSON: JSON lines instead of rows.
  ///   - limit: how many records; nil for no end.
  public init(_ output: Output, asJSON: Bool, limit: Int?) {
    self.output = output
    self.asJSON = asJSON
    self.limit = limit
    table = StreamingTable(RecordView.columns, lineWidth: output.width, usesColor: output.usesColor)
  }

  /// Prints records; returns whether more are wanted.
  /// - Throws: ``OperationError`` of kind `outputClosed` where the reader is gone.
  public func print(_ records: [ConsumerRecord]) throws(OperationError) -> Bool {
    let wanted = limit.map { max(0, $0 - printed) } ?? .max
    var lines: [String] = []
    for record in records.prefix(wanted) {
      lines += self.lines(RecordView(record))
      printed += 1
    }
    try output.lines(lines)
    return limit.map { printed < $0 } ?? true
  }

  private func lines(_ view: RecordView) -> [String] {
    guard !asJSON else { return [view.jsonLine] }
    let header = printed == 0 ? table.header() : []
    let notes = view.notes.map { note in
      let room = output.width.map { max(1, $0 - 4) } ?? .max
      return "    " + note.style.applied(to: TerminalText.cut(note.text, to: room), usesColor: output.usesColor)
    }
    return header + table.lines(view.row) + notes
  }
}
