// Reads JSON that has to fit a schema, and names the place of the first fault.

internal import AppStore

/// A JSON value and its place in a document.
struct JSONCursor {
  let value: JSON
  let place: String

  init(_ value: JSON, at place: String = "$") {
    self.value = value
    self.place = place
  }

  func fault(_ what: String) -> OutcomeFault { OutcomeFault(place, what) }

  /// Returns the members of an object that has no others than these.
  func object(allowing names: Set<String>) throws(OutcomeFault) -> Members {
    guard case .object(let object) = value else { throw fault("an object is expected, not \(value.kind.rawValue)") }
    for member in object.members where !names.contains(member.key) {
      throw OutcomeFault("\(place).\(Self.shown(member.key))", "this member is not allowed here")
    }
    return Members(object: object, place: place)
  }

  /// Returns the elements of an array.
  func elements(atMost count: Int) throws(OutcomeFault) -> [JSONCursor] {
    guard case .array(let elements) = value else { throw fault("an array is expected, not \(value.kind.rawValue)") }
    guard elements.count <= count else { throw fault("\(elements.count) elements; at most \(count) are allowed") }
    return elements.enumerated().map { JSONCursor($1, at: "\(place)[\($0)]") }
  }

  /// Returns a text of limited length.
  /// - Parameter fits: A further condition; `expected` describes it.
  func text(
    _ lengths: ClosedRange<Int>, _ expected: String = "", where fits: (String) -> Bool = { _ in true }
  ) throws(OutcomeFault) -> String {
    guard case .string(let text) = value else { throw fault("a string is expected, not \(value.kind.rawValue)") }
    guard lengths.contains(text.unicodeScalars.count) else {
      throw fault("\(text.unicodeScalars.count) characters; \(lengths.lowerBound) to \(lengths.upperBound) are allowed")
    }
    guard fits(text) else { throw fault("not \(expected)") }
    return text
  }

  /// Returns a whole number in a range.
  func integer(_ range: ClosedRange<Int64>) throws(OutcomeFault) -> Int64 {
    guard let number = wholeNumber else {
      throw fault("a whole number is expected, not \(value.kind == .number ? "another number" : value.kind.rawValue)")
    }
    guard range.contains(number) else { throw fault("not from \(range.lowerBound) to \(range.upperBound)") }
    return number
  }

  /// The whole number; nil for any other value. `90.0` is a whole number, as in JSON Schema.
  var wholeNumber: Int64? {
    switch value {
    case .integer(let number): number
    case .number(let text): Double(text).flatMap { Int64(exactly: $0) }
    default: nil
    }
  }

  /// The members of an object.
  struct Members {
    let object: JSONObject
    let place: String

    /// Returns a member; nil if it is absent.
    subscript(name: String) -> JSONCursor? {
      object[name].map { JSONCursor($0, at: "\(place).\(name)") }
    }

    /// Returns a member that has to be there.
    func required(_ name: String) throws(OutcomeFault) -> JSONCursor {
      guard let member = self[name] else { throw OutcomeFault(place, "`\(name)` is missing") }
      return member
    }
  }

  /// A name that a stranger chose, fit for a log.
  private static func shown(_ name: String) -> String {
    let isPlain = !name.isEmpty && name.utf8.count <= 64 && name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    return isPlain ? name : "…"
  }
}
