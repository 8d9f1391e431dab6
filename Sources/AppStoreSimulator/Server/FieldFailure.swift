// The constraints of requests are those that clients check before they send; here each becomes the error of Apple's.

internal import AppStore

/// The error for a field that is wrong.
struct FieldFailure: Sendable {
  let field: String
  let failure: APIFailure
  /// Errors of their own for some of the field's rules.
  let byRule: [RequestRule: APIFailure]

  init(_ field: String, _ failure: APIFailure, _ byRule: [RequestRule: APIFailure] = [:]) {
    self.field = field
    self.failure = failure
    self.byRule = byRule
  }

  fileprivate func failure(of violations: [RequestViolation]) -> APIFailure? {
    violations.first { $0.field == field || $0.field.hasPrefix(field + "[") }.map { byRule[$0.rule] ?? failure }
  }
}

extension APIFailure {
  /// Apple answers with one error, however much is wrong.
  ///
  /// - Parameter fields: the fields in the order in which they are looked at.
  /// - Throws: the error of the first field that is wrong; ``badRequest`` where only others are.
  static func check(_ violations: [RequestViolation], _ fields: [FieldFailure]) throws(APIFailure) {
    guard !violations.isEmpty else { return }
    throw fields.lazy.compactMap { $0.failure(of: violations) }.first ?? .badRequest
  }
}
