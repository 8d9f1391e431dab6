// The position of the secret in a version 1 body, as a header. With it the original body can be restored byte for byte.

package import AppStore
internal import MillraceCore

extension ResponseBodyV1.PasswordPlace {
  /// `<offset> <before> <after>`, both in hexadecimal.
  package var headerText: String { "\(offset) \(Hex.text(before)) \(Hex.text(after))" }

  /// Parses a header; nil if it is invalid.
  package init?(headerText: String) {
    let parts = headerText.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard parts.count == 3, let offset = Int(String(decoding: parts[0], as: UTF8.self)), offset >= 0,
      let before = Hex.bytes(parts[1]), let after = Hex.bytes(parts[2])
    else { return nil }
    self.init(offset: offset, before: before, after: after)
  }
}
