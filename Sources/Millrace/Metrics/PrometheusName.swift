// Prometheus' rules for names and texts (text exposition format 0.0.4), kept away from everything that counts.

enum PrometheusName {
  /// A metric name: letters, digits, `_` and `:`, no digit first; anything else becomes `_`.
  static func metric(_ label: String) -> String { sanitize(label, colons: true) }

  /// A label name: letters, digits and `_`, no digit first. `le` belongs to histograms and becomes `le_`.
  static func label(_ name: String) -> String {
    let name = sanitize(name, colons: false)
    return name == "le" ? "le_" : name
  }

  /// The name with `suffix`, unless it ends so already.
  static func suffixed(_ name: String, _ suffix: String) -> String { name.hasSuffix(suffix) ? name : name + suffix }

  private static func sanitize(_ text: String, colons: Bool) -> String {
    var bytes = text.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        byte
      case UInt8(ascii: ":") where colons: byte
      default: UInt8(ascii: "_")
      }
    }
    if let first = bytes.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) {
      bytes.insert(UInt8(ascii: "_"), at: 0)
    }
    return bytes.isEmpty ? "_" : String(decoding: bytes, as: UTF8.self)
  }

  /// A help text: backslash and newline escaped.
  static func escapedHelp(_ text: String) -> String { escaped(text, quotes: false) }

  /// A label value: backslash, newline and double quote escaped.
  static func escapedValue(_ text: String) -> String { escaped(text, quotes: true) }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// A sample's value: whole numbers without a point, infinities as Prometheus writes them.
  static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    if let whole = Int64(exactly: value) { return "\(whole)" }
    return "\(value)"
  }
}
