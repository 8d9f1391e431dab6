// Maps violated constraints of a request to Apple's errors. Clients check the same constraints before they send.

internal import AppStore

/// The error for an invalid field.
struct FieldFailure: Sendable {
  let field: String
  let failure: APIFailure
  /// Errors for specific rules of the field.
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
  /// Throws Apple's error for the first invalid field. Apple responds with a single error even if several fields are
  /// invalid.
  ///
  /// - Parameter fields: the fields in the order in which they are checked.
  /// - Throws: the error of the first invalid field; ``badRequest`` if only other fields are invalid.
  static func check(_ violations: [RequestViolation], _ fields: [FieldFailure]) throws(APIFailure) {
    guard !violations.isEmpty else { return }
    throw fields.lazy.compactMap { $0.failure(of: violations) }.first ?? .badRequest
  }
}
