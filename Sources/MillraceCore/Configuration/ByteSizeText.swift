// Sizes in text: `256KiB`, `2MiB`, `1GiB`, or plain bytes.

enum ByteSizeText {
  private static let units: [(suffix: String, bytes: Int)] = [
    ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1), ("", 1),
  ]

  /// Returns the number of bytes; `nil` unless the text is a whole number followed by `B`, `KiB`, `MiB`, `GiB` or
  /// nothing. `kB` and `MB` are not accepted because their meaning is ambiguous.
  static func parse(_ text: String) -> Int? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard !digits.isEmpty, let count = Int(digits),
      let unit = units.first(where: { $0.suffix == text.dropFirst(digits.count) })
    else { return nil }
    let (bytes, overflow) = count.multipliedReportingOverflow(by: unit.bytes)
    return overflow ? nil : bytes
  }

  /// Returns the shortest exact text.
  static func text(_ bytes: Int) -> String {
    guard bytes != 0 else { return "0B" }
    let unit = units.first { bytes.isMultiple(of: $0.bytes) }
    return "\(bytes / (unit?.bytes ?? 1))\(unit?.suffix ?? "B")"
  }
}
