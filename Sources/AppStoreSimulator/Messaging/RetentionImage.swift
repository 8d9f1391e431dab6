// The images of retention messages, validated by the first bytes of the PNG file.

/// The size of an image, as Upload Image names it.
enum RetentionImageSize: String, Sendable, Hashable {
  case fullSize = "FULL_SIZE"
  case bulletPoint = "BULLET_POINT"

  /// Parses the query parameter. Without a parameter, the size is the full size.
  ///
  /// - Throws: ``APIFailure/badRequestImageSize`` if the size does not exist.
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
  /// Whether the pixels have an alpha channel. Transparency in a `tRNS` chunk is not detected.
  let hasAlpha: Bool

  private static let beginning: [UInt8] = [137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82]
  private static let length = 33

  /// Returns nil if the bytes are not a PNG file.
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

  /// Whether Upload Image accepts the image. It must not be transparent. A full-size image must be 3840 pixels wide and
  /// 160 to 2160 pixels high. The dimensions of bullet points are not checked.
  func isAcceptable(as size: RetentionImageSize) -> Bool {
    guard !hasAlpha else { return false }
    return size == .bulletPoint || (width == 3_840 && (160...2_160).contains(height))
  }
}
