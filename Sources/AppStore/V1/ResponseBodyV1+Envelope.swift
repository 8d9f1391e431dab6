// A version 1 notification as posted, taken apart into what is kept and the secret that came with it.

extension ResponseBodyV1 {
  /// A posted body without its shared secret, and the secret apart from it.
  ///
  /// Every member of the outermost object whose name is `password` goes, however the name is escaped and however often
  /// it stands there. What else goes with it is fixed, so that the rest is what Apple sent byte for byte:
  ///
  /// - With another member behind it: everything from its name's quotation mark to that of the next member, that is, the
  ///   member, the comma behind it and the white space up to the next member.
  /// - As the last member: everything from the comma before it to the end of its value. The white space before that
  ///   comma and before the closing brace stays.
  /// - As the only member: from its name's quotation mark to the end of its value.
  ///
  /// Several passwords in a row go as one. A `password` deeper inside stays: Apple documents none, and it would be data.
  public struct Envelope: Sendable {
    /// The notification without `password`.
    public let body: ResponseBodyV1
    /// The bytes that may be stored: those posted, without `password`.
    public let bytes: [UInt8]
    /// What the members named `password` held, in order; as a rule one, none in bodies of 2019.
    public let passwords: [Secret]
    /// Where the password stood; nil where there was none, more than one, or one that is not written as it is.
    public let passwordPlace: PasswordPlace?

    /// Takes a posted body apart.
    ///
    /// - Throws: ``JSONError`` when it is not JSON or not an object.
    public init(parsing posted: UnsafeRawBufferPointer, maximumDepth: Int = 64) throws(JSONError) {
      var parser = JSONParser(posted, maximumDepth: maximumDepth, recordsSpans: true)
      guard case .object(var object) = try parser.document() else { throw JSONError(.notAnObject, at: 0) }
      let isPassword = object.members.map { JSONObject.same($0.key, "password") }
      passwords = zip(object.members, isPassword).filter(\.1).map { Secret($0.0.value) }
      let cuts = Self.cuts(parser.topLevelSpans, isPassword)
      bytes = Self.bytes(posted, without: cuts)
      let valueEnd = zip(parser.topLevelSpans, isPassword).first(where: \.1)?.0.valueEnd
      if passwords.count == 1, let secret = passwords.first, let cut = cuts.first, let valueEnd {
        passwordPlace = PasswordPlace(secret, in: posted, cut: cut, valueEnd: valueEnd)
      } else {
        passwordPlace = nil
      }
      object["password"] = nil
      body = ResponseBodyV1(json: object)
    }

    /// Takes a posted body apart.
    ///
    /// - Throws: ``JSONError`` when it is not JSON or not an object.
    public init(parsing posted: [UInt8], maximumDepth: Int = 64) throws(JSONError) {
      let result = posted.withUnsafeBytes { bytes in
        Result { () throws(JSONError) in try Self(parsing: bytes, maximumDepth: maximumDepth) }
      }
      self = try result.get()
    }

    /// The ranges of bytes to leave out, in order, given where each member stands and whether it goes.
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
