// The images of retention messages: what is accepted, read from the first bytes of a PNG.

/// An image's size, as Upload Image knows it.
enum RetentionImageSize: String, Sendable, Hashable {
  case fullSize = "FULL_SIZE"
  case bulletPoint = "BULLET_POINT"

  /// - Throws: ``APIFailure/badRequestImageSize`` for a size that does not exist. Without one it is a full size.
  init(query: String?) throws(APIFailure) {
    guard let query else {
      self = .fullSize
      return
    }
    guard let size = RetentionImageSize(rawValue: query) else { throw .badRequestImageSize }
    self = size
  }
}

/// The header of a PNG (ISO/IEC 15948, 5.2 and 11.2.2).
struct PNGHeader: Sendable, Hashable {
  let width: Int
  let height: Int
  /// Whether the pixels have an alpha channel. Transparency in a `tRNS` chunk is not looked for.
  let hasAlpha: Bool

  private static let beginning: [UInt8] = [137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82]
  private static let length = 33

  /// nil when the bytes are no PNG.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.length, bytes.starts(with: Self.beginning) else { return nil }
    width = Self.number(bytes[16..<20])
    height = Self.number(bytes[20..<24])
    switch bytes[25] {
    case 0, 2, 3: hasAlpha = false
    case 4, 6: hasAlpha = true
    default: return nil
    }
    guard width > 0, height > 0 else { return nil }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

  /// Whether Upload Image takes it: no transparency, and for the full size 3840 pixels by 160 to 2160. The dimensions of
  /// bullet points are not checked.
  func isAcceptable(as size: RetentionImageSize) -> Bool {
    guard !hasAlpha else { return false }
    return size == .bulletPoint || (width == 3_840 && (160...2_160).contains(height))
  }
}
