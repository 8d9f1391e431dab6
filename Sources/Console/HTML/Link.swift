// Builds links inside the console.

/// Builds a path with a query, percent-encoded (RFC 3986). Interpolation into an attribute also escapes it.
enum Link {
  static func to(_ path: [String], _ query: [(String, String)] = []) -> String {
    let parts = query.filter { !$0.1.isEmpty }.map { "\(encoded($0.0))=\(encoded($0.1))" }
    return "/" + path.map(encoded).joined(separator: "/") + (parts.isEmpty ? "" : "?" + parts.joined(separator: "&"))
  }

  private static func encoded(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      switch byte {
      case 48...57, 65...90, 97...122, 45, 46, 95, 126: result.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        result += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
      }
    }
    return result
  }
}
