// Shows what became of each resubmitted body, as it happens.

/// Prints outcomes, as rows or as JSON lines.
public struct ResubmissionReporter: Sendable {
  private let output: Output
  private let asJSON: Bool

  /// Prints to a place.
  public init(_ output: Output, asJSON: Bool) {
    self.output = output
    self.asJSON = asJSON
  }

  /// Prints one outcome.
  /// - Throws: ``OperationError`` of kind `outputClosed` where the reader is gone.
  public func report(_ outcome: ResubmissionOutcome) throws(OperationError) {
    if asJSON { return try output.line(outcome.jsonLine) }
    // The columns are of fixed width but for the last, so a table of one row lines up with the others.
    var table = StreamingTable(ResubmissionOutcome.columns, lineWidth: output.width, usesColor: output.usesColor)
    try output.lines(table.lines(outcome.row))
  }
}
