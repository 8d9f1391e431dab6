// Asks the operator before a change. Pure: the caller supplies the input and output.

/// The operator's decision about a change.
package enum Approval: Sendable, Hashable {
  /// Proceed.
  case granted
  /// The operator declined.
  case declined

  /// Asks for a decision unless it is given.
  ///
  /// - Parameters:
  ///   - isGiven: `--yes`.
  ///   - canAsk: Whether standard input is a terminal.
  ///   - ask: Shows a question and returns the answer; nil at the end of the input.
  /// - Throws: ``OperationError`` that names `--yes` if there is no terminal.
  package static func of(
    isGiven: Bool, canAsk: Bool, question: String, ask: (String) -> String?
  ) throws(OperationError) -> Approval {
    if isGiven { return .granted }
    guard canAsk else {
      throw OperationError(
        .usage, "there is no terminal to ask for confirmation", at: "--yes",
        remedy: "pass --yes to apply the changes shown above")
    }
    let answer = ask(question + " [y/N] ") ?? ""
    return ["y", "yes"].contains(answer.lowercased().filter { !$0.isWhitespace }) ? .granted : .declined
  }
}
