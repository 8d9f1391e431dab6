// The checks that several requests share, each on one field.

extension AppStoreObject {
  /// Fields that are of another JSON type than Apple documents, and fields that Apple demands and that are absent.
  func violations(required: [String], topic: String) -> [RequestViolation] {
    oddFields.map { odd in
      RequestViolation(
        .documentedType, odd.path, found: "\(odd.expected.rawValue) expected, \(odd.found.rawValue) found", topic: topic
      )
    }
      + required.filter { json[$0] == nil }.map { RequestViolation(.required, $0, found: "absent", topic: topic) }
  }

  /// A field whose value is not on Apple's list; absent is fine here.
  func undocumented<Value: OpenEnum>(
    _ field: String, _ property: KeyPath<Self, Value?>, topic: String? = nil
  ) -> RequestViolation? {
    guard let value = self[keyPath: property], !value.isKnown else { return nil }
    return RequestViolation(.documentedValue, field, found: "found \(shown("\(value)"))", topic: topic)
  }
}

/// A value of the request's author, cut to a length that a log can bear.
func shown(_ text: String) -> String { text.count > 40 ? "\(text.prefix(40))…" : text }

/// The shape of an identifier, without the identifier.
func shape(of text: String) -> String {
  text.isEmpty ? "an empty string found" : "found \(text.count) characters of another shape"
}

extension ExtendReasonCode {
  /// The two fields that both extension requests share.
  static func violations(days: Int?, reason: ExtendReasonCode?) -> [RequestViolation] {
    var violations: [RequestViolation] = []
    if let days, !(1...90).contains(days) {
      violations.append(RequestViolation(.extendByDaysRange, "extendByDays", found: "found \(days)"))
    }
    if let reason, !reason.isKnown {
      violations.append(RequestViolation(.documentedValue, "extendReasonCode", found: "found \(reason)"))
    }
    return violations
  }
}

extension String {
  /// Whether this is a UUID in its text form (RFC 9562): 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
  package var isUUID: Bool {
    guard utf8.count == 36 else { return false }
    for (index, byte) in utf8.enumerated() {
      switch index {
      case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return false }
      default: guard Self.isHexadecimal(byte) else { return false }
      }
    }
    return true
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }

  /// Whether this is one or more ASCII digits, as transaction identifiers are.
  var isDigits: Bool { !isEmpty && utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }

  /// Whether this can stand as one segment of a path. Servers and proxies decode `%2F` before they route, and `..` climbs
  /// even when encoded; control characters are in no identifier.
  var isPathSegment: Bool {
    guard !isEmpty, self != ".", self != ".." else { return false }
    return utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }
  }
}
