// Sizes as people write them: `256KiB`, `2MiB`, `1GiB`, or plain bytes.

enum ByteSizeText {
  private static let units: [(suffix: String, bytes: Int)] = [
    ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1), ("", 1),
  ]

  /// The number of bytes; `nil` for anything but a whole number and `B`, `KiB`, `MiB`, `GiB` or nothing. Powers of ten
  /// (`kB`, `MB`) are not accepted, because nobody agrees on what they mean.
  static func parse(_ text: String) -> Int? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard !digits.isEmpty, let count = Int(digits),
      let unit = units.first(where: { $0.suffix == text.dropFirst(digits.count) })
    else { return nil }
    let (bytes, overflow) = count.multipliedReportingOverflow(by: unit.bytes)
    return overflow ? nil : bytes
  }

  /// The shortest exact text.
  static func text(_ bytes: Int) -> String {
    guard bytes != 0 else { return "0B" }
    let unit = units.first { bytes.isMultiple(of: $0.bytes) }
    return "\(bytes / (unit?.bytes ?? 1))\(unit?.suffix ?? "B")"
  }
}
