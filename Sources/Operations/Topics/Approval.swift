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
    let answer = try answer(to: question + " [y/N] ", canAsk: canAsk, ask)
    return ["y", "yes"].contains(answer.lowercased().filter { !$0.isWhitespace }) ? .granted : .declined
  }

  /// Asks the operator to type a word, for a change that is easily a mistake.
  ///
  /// - Parameters:
  ///   - isGiven: `--yes`.
  ///   - word: The word, such as the name of the product.
  /// - Throws: ``OperationError`` that names `--yes` if there is no terminal.
  package static func of(
    isGiven: Bool, canAsk: Bool, question: String, typing word: String, ask: (String) -> String?
  ) throws(OperationError) -> Approval {
    if isGiven { return .granted }
    let answer = try answer(to: "\(question) Type \(word) to go on: ", canAsk: canAsk, ask)
    return answer.filter { !$0.isWhitespace } == word ? .granted : .declined
  }

  private static func answer(
    to question: String, canAsk: Bool, _ ask: (String) -> String?
  ) throws(OperationError) -> String {
    guard canAsk else {
      throw OperationError(
        .usage, "there is no terminal to ask for confirmation", at: "--yes",
        remedy: "pass --yes to apply the changes shown above")
    }
    return ask(question) ?? ""
  }
}
