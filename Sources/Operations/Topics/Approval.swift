// Asking before something changes. The decision is pure; who can be asked is told from outside.

/// Whether a change may happen.
public enum Approval: Sendable, Hashable {
  /// Go on.
  case granted
  /// The person said no.
  case declined

  /// Decides.
  ///
  /// - Parameters:
  ///   - isGiven: `--yes`.
  ///   - canAsk: whether a person sits at the terminal.
  ///   - ask: shows a question and returns the answer; nil at the end of the input.
  /// - Throws: ``OperationError`` that names `--yes` where nobody can be asked.
  public static func of(
    isGiven: Bool, canAsk: Bool, question: String, ask: (String) -> String?
  ) throws(OperationError) -> Approval {
    if isGiven { return .granted }
    guard canAsk else {
      throw OperationError(
        .usage, "there is no terminal to ask at", at: "--yes", remedy: "pass --yes to apply what is shown above")
    }
    let answer = ask(question + " [y/N] ") ?? ""
    return ["y", "yes"].contains(answer.lowercased().filter { !$0.isWhitespace }) ? .granted : .declined
  }
}
