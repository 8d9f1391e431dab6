// Prints records as rows or JSON lines until a limit is reached. Holds all mutable state of a listener.

package import KafkaClient

/// Prints records of many partitions in the order of their arrival.
package actor RecordPrinter {
  private let output: Output
  private let asJSON: Bool
  private let limit: Int?
  private let filter: RecordFilter
  private let withPayload: Bool
  private var table: StreamingTable
  private var printed = 0

  /// Creates a printer.
  ///
  /// - Parameters:
  ///   - asJSON: Prints JSON lines instead of rows.
  ///   - limit: The maximum number of records; nil for no limit.
  ///   - filter: Selects the records to print.
  ///   - withPayload: Prints payloads, which are personal data.
  package init(
    _ output: Output, asJSON: Bool, limit: Int?, filter: RecordFilter = RecordFilter(), withPayload: Bool = false
  ) {
    (self.filter, self.withPayload) = (filter, withPayload)
    self.output = output
    self.asJSON = asJSON
    self.limit = limit
    table = StreamingTable(RecordView.columns, lineWidth: output.width, usesColor: output.usesColor)
  }

  /// Prints records and returns whether to continue.
  /// - Throws: ``OperationError`` of kind `outputClosed` if the reader closed the output.
  package func print(_ records: [ConsumerRecord]) throws(OperationError) -> Bool {
    let wanted = limit.map { max(0, $0 - printed) } ?? .max
    var lines: [String] = []
    var count = 0
    for record in records where count < wanted {
      let view = RecordView(record)
      guard filter.accepts(view) else { continue }
      lines += self.lines(withPayload ? view : view.withoutPayload)
      printed += 1
      count += 1
    }
    try output.lines(lines)
    return limit.map { printed < $0 } ?? true
  }

  private func lines(_ view: RecordView) -> [String] {
    guard !asJSON else { return [view.jsonLine] }
    let header = printed == 0 ? table.header() : []
    let notes = (view.notes + [view.payloadNote].compactMap(\.self)).map { note in
      let room = output.width.map { max(1, $0 - 4) } ?? .max
      return "    " + note.style.applied(to: TerminalText.cut(note.text, to: room), usesColor: output.usesColor)
    }
    return header + table.lines(view.row) + notes
  }
}
