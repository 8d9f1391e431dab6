// Where the secret stood in a version 1 body, so that whoever has it can make the body again byte for byte.

extension ResponseBodyV1 {
  /// The place of a body's one `password`: all that was taken out but the secret itself.
  public struct PasswordPlace: Sendable, Hashable {
    /// Where in the bytes that are left it was taken out.
    public var offset: Int
    /// What was taken out before the secret, as a rule `"password":"`.
    public var before: [UInt8]
    /// What was taken out behind it, as a rule `",`.
    public var after: [UInt8]

    /// The most bytes before and behind the secret together; more is no place that anybody has seen.
    static let limit = 256

    /// A place.
    public init(offset: Int, before: [UInt8], after: [UInt8]) {
      self.offset = offset
      self.before = before
      self.after = after
    }

    /// The place of `secret` in what was cut out of a body; nil where the secret does not stand there as it is, which
    /// no secret of Apple's needs.
    init?(_ secret: Secret, in posted: UnsafeRawBufferPointer, cut: Range<Int>, valueEnd: Int) {
      guard let length = secret.length, cut.count - length <= Self.limit else { return nil }
      let content = (valueEnd - 1 - length)..<(valueEnd - 1)
      guard content.lowerBound > cut.lowerBound, secret.isEqual(toUTF8: Array(posted[content])) else { return nil }
      self.init(
        offset: cut.lowerBound, before: Array(posted[cut.lowerBound..<content.lowerBound]),
        after: Array(posted[content.upperBound..<cut.upperBound]))
    }

    /// The body with a secret in its place; nil where the place is not in it.
    /// - Parameter secret: as it stands between the quotation marks of a JSON string.
    public func restoring(_ secret: some Sequence<UInt8>, to kept: [UInt8]) -> [UInt8]? {
      guard kept.indices.contains(offset) else { return nil }
      return kept[..<offset] + before + Array(secret) + after + kept[offset...]
    }
  }
}
