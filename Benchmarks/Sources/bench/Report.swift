// Formats one result as a table for people and as a line of JSON.
import AppStore

/// A column-aligned table.
struct Table {
  var titles: [String]
  var rows: [[String]] = []

  var text: String {
    let widths = titles.indices.map { column in ([titles] + rows).map { $0[column].count }.max() ?? 0 }
    func line(_ cells: [String]) -> String {
      zip(cells, widths).enumerated().map { column, cell in
        let spaces = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
        return column == 0 ? cell.0 + spaces : spaces + cell.0
      }.joined(separator: "  ")
    }
    let rule = String(repeating: "─", count: widths.reduce(0, +) + 2 * (widths.count - 1))
    return ([line(titles), rule] + rows.map(line)).joined(separator: "\n")
  }
}

enum Numbers {
  /// Formats with thousands separators and without decimals.
  static func whole(_ value: Double) -> String {
    let digits = String(Int(value.rounded()))
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += " " }
      text.append(digit)
    }
    return text
  }

  static func fixed(_ value: Double, _ decimals: Int) -> String {
    var scale = 1.0
    for _ in 0..<decimals { scale *= 10 }
    let scaled = Int((value * scale).rounded())
    guard decimals > 0 else { return String(scaled) }
    let fraction = String(scaled % Int(scale))
    return "\(scaled / Int(scale))." + String(repeating: "0", count: decimals - fraction.count) + fraction
  }

  static func median(_ values: [Double]) -> Double { percentile(values, 0.5) }

  /// The nearest rank; NaN if there are no values.
  static func percentile(_ values: [Double], _ part: Double) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return .nan }
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
  }
}

extension JSONObject {
  /// Sets a number with at most three decimals.
  mutating func set(_ name: String, _ value: Double) { self[name] = .number(Numbers.fixed(value, 3)) }

  var line: String { String(decoding: serialized(), as: UTF8.self) }
}
