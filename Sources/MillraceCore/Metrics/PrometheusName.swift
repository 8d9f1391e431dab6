// Prometheus' rules for names, texts and numbers (text exposition format 0.0.4).

enum PrometheusName {
  /// Returns a metric name: letters, digits, `_` and `:`, no digit first. Other characters become `_`.
  static func metric(_ label: String) -> String { sanitize(label, colons: true) }

  /// Returns a label name: letters, digits and `_`, no digit first. `le` is reserved for histograms and becomes `le_`.
  static func label(_ name: String) -> String {
    let name = sanitize(name, colons: false)
    return name == "le" ? "le_" : name
  }

  /// Returns the name with `suffix`, which is added only if it is missing.
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

  /// Returns a help text with backslash and newline escaped.
  static func escapedHelp(_ text: String) -> String { escaped(text, quotes: false) }

  /// Returns a label value with backslash, newline and double quote escaped.
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

  /// Returns a sample's value: whole numbers without a decimal point, infinities as Prometheus writes them.
  static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    if let whole = Int64(exactly: value) { return "\(whole)" }
    return "\(value)"
  }
}
