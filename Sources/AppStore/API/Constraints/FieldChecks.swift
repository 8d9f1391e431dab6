// Checks of single fields that several requests share.

extension AppStoreObject {
  /// Returns the fields whose JSON type is not the documented one, and the required fields that are absent.
  func violations(required: [String], topic: String) -> [RequestViolation] {
    oddFields.map { odd in
      RequestViolation(
        .documentedType, odd.path, found: "expected \(odd.expected.rawValue), found \(odd.found.rawValue)", topic: topic
      )
    }
      + required.filter { json[$0] == nil }.map { RequestViolation(.required, $0, found: "absent", topic: topic) }
  }

  /// Returns a violation if the value is not documented. An absent value is valid here.
  func undocumented<Value: OpenEnum>(
    _ field: String, _ property: KeyPath<Self, Value?>, topic: String? = nil
  ) -> RequestViolation? {
    guard let value = self[keyPath: property], !value.isKnown else { return nil }
    return RequestViolation(.documentedValue, field, found: "found \(shown("\(value)"))", topic: topic)
  }
}

/// Shortens a value from the request for logs.
func shown(_ text: String) -> String { text.count > 40 ? "\(text.prefix(40))…" : text }

/// Describes the shape of an identifier without revealing it.
func shape(of text: String) -> String {
  text.isEmpty ? "found an empty string" : "found \(text.count) characters in another format"
}

extension ExtendReasonCode {
  /// Checks the two fields that both extension requests share.
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
  /// Whether this is a UUID in text form (RFC 9562): 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
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

  /// Whether this can be one segment of a path. Servers and proxies decode `%2F` before routing, and `..` leads to the
  /// parent even if encoded. No identifier contains control characters.
  var isPathSegment: Bool {
    guard !isEmpty, self != ".", self != ".." else { return false }
    return utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }
  }
}
