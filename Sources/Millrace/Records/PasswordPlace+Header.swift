// The place of a version 1 body's secret as a header: without it the body could be made again, but not byte for byte.

package import AppStore

extension ResponseBodyV1.PasswordPlace {
  /// `<offset> <before> <after>`, both in hexadecimal.
  package var headerText: String { "\(offset) \(Hex.text(before)) \(Hex.text(after))" }

  /// Reads a header; nil for what is none.
  package init?(headerText: String) {
    let parts = headerText.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard parts.count == 3, let offset = Int(String(decoding: parts[0], as: UTF8.self)), offset >= 0,
      let before = Hex.bytes(parts[1]), let after = Hex.bytes(parts[2])
    else { return nil }
    self.init(offset: offset, before: before, after: after)
  }
}
