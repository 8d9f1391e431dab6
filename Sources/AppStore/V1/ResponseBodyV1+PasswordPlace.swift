// The position of the secret in a version 1 body, so that the owner of the secret can restore the body byte for byte.

extension ResponseBodyV1 {
  /// The position of a body's only `password`: the removed bytes except the secret itself.
  public struct PasswordPlace: Sendable, Hashable {
    /// The offset in the remaining bytes at which it was removed.
    public var offset: Int
    /// The bytes removed before the secret, usually `"password":"`.
    public var before: [UInt8]
    /// The bytes removed after the secret, usually `",`.
    public var after: [UInt8]

    /// The maximum number of bytes before and after the secret together. No known body has more.
    static let limit = 256

    /// Creates a position.
    public init(offset: Int, before: [UInt8], after: [UInt8]) {
      self.offset = offset
      self.before = before
      self.after = after
    }

    /// The position of `secret` in the bytes removed from a body; nil if it contains escapes, which no secret from
    /// Apple needs.
    init?(_ secret: Secret, in posted: UnsafeRawBufferPointer, cut: Range<Int>, valueEnd: Int) {
      guard let length = secret.length, cut.count - length <= Self.limit else { return nil }
      let content = (valueEnd - 1 - length)..<(valueEnd - 1)
      guard content.lowerBound > cut.lowerBound, secret.isEqual(toUTF8: Array(posted[content])) else { return nil }
      self.init(
        offset: cut.lowerBound, before: Array(posted[cut.lowerBound..<content.lowerBound]),
        after: Array(posted[content.upperBound..<cut.upperBound]))
    }

    /// Returns the body with a secret inserted; nil if the position is not in it.
    ///
    /// - Parameter secret: the characters between the quotation marks of the JSON string.
    public func restoring(_ secret: some Sequence<UInt8>, to kept: [UInt8]) -> [UInt8]? {
      guard kept.indices.contains(offset) else { return nil }
      return kept[..<offset] + before + Array(secret) + after + kept[offset...]
    }
  }
}
