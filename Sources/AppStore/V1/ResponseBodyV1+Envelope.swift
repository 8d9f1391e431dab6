// Separates a posted version 1 notification into the body to keep and its shared secret.

extension ResponseBodyV1 {
  /// A posted body without its shared secret, and the secret.
  ///
  /// Every member of the outermost object with the name `password` is removed, however the name is escaped and however
  /// often it occurs. The following rules fix what else is removed, so that the rest remains byte for byte as Apple
  /// sent it:
  ///
  /// - If another member follows: the member, its comma and the white space up to the quotation mark of the next
  ///   member's name.
  /// - If it is the last member: everything from the preceding comma to the end of its value. The white space before
  ///   that comma and before the closing brace remains.
  /// - If it is the only member: everything from the quotation mark of the name to the end of its value.
  ///
  /// Consecutive passwords are removed as one. A `password` in a nested object remains: Apple documents none there, so
  /// it would be data.
  public struct Envelope: Sendable {
    /// The notification without `password`.
    public let body: ResponseBodyV1
    /// The bytes that may be stored: the posted bytes without `password`.
    public let bytes: [UInt8]
    /// The values of the members with the name `password`, in order. There is usually one, and none in bodies of 2019.
    public let passwords: [Secret]
    /// The position of the password; nil if there is none, more than one, or one that contains escapes.
    public let passwordPlace: PasswordPlace?

    /// Separates a posted body.
    ///
    /// - Throws: ``JSONError`` if it is not JSON or not an object.
    public init(parsing posted: UnsafeRawBufferPointer, maximumDepth: Int = 64) throws(JSONError) {
      var parser = JSONParser(posted, maximumDepth: maximumDepth, recordsSpans: true)
      guard case .object(var object) = try parser.document() else { throw JSONError(.notAnObject, at: 0) }
      let isPassword = object.members.map { JSONObject.same($0.key, Self.passwordName) }
      passwords = zip(object.members, isPassword).filter(\.1).map { Secret($0.0.value) }
      let cuts = Self.cuts(parser.topLevelSpans, isPassword)
      bytes = Self.bytes(posted, without: cuts)
      let valueEnd = zip(parser.topLevelSpans, isPassword).first(where: \.1)?.0.valueEnd
      if passwords.count == 1, let secret = passwords.first, let cut = cuts.first, let valueEnd {
        passwordPlace = PasswordPlace(secret, in: posted, cut: cut, valueEnd: valueEnd)
      } else {
        passwordPlace = nil
      }
      object[Self.passwordName] = nil
      body = ResponseBodyV1(json: object)
    }

    /// Separates a posted body.
    ///
    /// - Throws: ``JSONError`` if it is not JSON or not an object.
    public init(parsing posted: [UInt8], maximumDepth: Int = 64) throws(JSONError) {
      let result = posted.withUnsafeBytes { bytes in
        Result { () throws(JSONError) in try Self(parsing: bytes, maximumDepth: maximumDepth) }
      }
      self = try result.get()
    }

    /// Returns the ``passwords`` of a posted body without building an envelope.
    ///
    /// The tree of a hostile body takes thirty times its size. This method takes no more than a few copies of one
    /// string, so that the secret can be checked before the body is trusted enough for a tree.
    ///
    /// - Throws: ``JSONError``, the same as ``init(parsing:maximumDepth:)-(UnsafeRawBufferPointer,_)``.
    package static func passwords(
      in posted: UnsafeRawBufferPointer, maximumDepth: Int = 64
    ) throws(JSONError) -> [Secret] {
      var parser = JSONParser(posted, maximumDepth: maximumDepth, onlyMember: passwordName)
      guard case .object(let object) = try parser.document() else { throw JSONError(.notAnObject, at: 0) }
      return object.members.map { Secret($0.value) }
    }

    /// Returns the ``passwords`` of a posted body without building an envelope.
    ///
    /// - Throws: ``JSONError``, the same as ``init(parsing:maximumDepth:)-([UInt8],_)``.
    package static func passwords(in posted: [UInt8], maximumDepth: Int = 64) throws(JSONError) -> [Secret] {
      let result = posted.withUnsafeBytes { bytes in
        Result { () throws(JSONError) in try Self.passwords(in: bytes, maximumDepth: maximumDepth) }
      }
      return try result.get()
    }

    private static let passwordName = "password"

    /// Returns the byte ranges to remove, in order, from the position of each member and whether it is removed.
    private static func cuts(_ spans: [JSONParser.MemberSpan], _ goes: [Bool]) -> [Range<Int>] {
      var cuts: [Range<Int>] = []
      var index = 0
      while index < spans.count {
        guard goes[index] else {
          index += 1
          continue
        }
        let first = index
        while index < spans.count, goes[index] { index += 1 }
        if index < spans.count {
          cuts.append(spans[first].keyStart..<spans[index].keyStart)
        } else {
          let start = first > 0 ? spans[first - 1].comma : nil
          cuts.append((start ?? spans[first].keyStart)..<spans[index - 1].valueEnd)
        }
      }
      return cuts
    }

    private static func bytes(_ posted: UnsafeRawBufferPointer, without cuts: [Range<Int>]) -> [UInt8] {
      var kept: [UInt8] = []
      kept.reserveCapacity(posted.count)
      var start = 0
      for cut in cuts {
        kept.append(contentsOf: posted[start..<cut.lowerBound])
        start = cut.upperBound
      }
      kept.append(contentsOf: posted[start...])
      return kept
    }
  }
}
