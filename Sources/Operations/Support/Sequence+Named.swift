// Finds what people name by the beginning of its ID.

extension Sequence {
  /// Returns the element with an ID, or the only one whose ID begins with the text.
  ///
  /// - Parameters:
  ///   - kind: What the elements are, such as `run`.
  ///   - remedy: Where to copy an ID from.
  /// - Throws: ``OperationError`` if no element or more than one matches.
  func named(
    _ text: String, _ kind: String = "run", remedy: String, id: (Element) -> String
  ) throws(OperationError) -> Element {
    let alike = text.isEmpty ? [] : filter { id($0).hasPrefix(text) }
    if let only = alike.first(where: { id($0) == text }) ?? (alike.count == 1 ? alike.first : nil) { return only }
    throw OperationError(
      .usage, alike.isEmpty ? "no such \(kind)" : "several \(kind)s begin with this id", at: text, remedy: remedy)
  }
}
