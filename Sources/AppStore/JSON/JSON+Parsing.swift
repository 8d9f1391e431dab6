// Parses JSON without Foundation. All production code decodes this way.

extension JSON {
  /// Parses a JSON document (RFC 8259, UTF-8, no byte order mark).
  ///
  /// - Parameters:
  ///   - bytes: the whole document; surrounding white space is allowed.
  ///   - maximumDepth: the maximum nesting depth of arrays and objects, at most 512.
  /// - Throws: ``JSONError`` with the byte offset.
  public init(parsing bytes: UnsafeRawBufferPointer, maximumDepth: Int = 64) throws(JSONError) {
    var parser = JSONParser(bytes, maximumDepth: maximumDepth)
    self = try parser.document()
  }

  /// Parses a JSON document; see ``init(parsing:maximumDepth:)-(UnsafeRawBufferPointer,_)``.
  public init(parsing bytes: [UInt8], maximumDepth: Int = 64) throws(JSONError) {
    self = try bytes.withUnsafeBytes { Self.result(of: $0, maximumDepth) }.get()
  }

  /// Parses a JSON document. Offsets in errors count from the start of the slice.
  public init(parsing bytes: ArraySlice<UInt8>, maximumDepth: Int = 64) throws(JSONError) {
    self = try bytes.withUnsafeBytes { Self.result(of: $0, maximumDepth) }.get()
  }

  /// Uses a result, because the standard library's closures do not support typed errors.
  private static func result(of bytes: UnsafeRawBufferPointer, _ maximumDepth: Int) -> Result<JSON, JSONError> {
    Result { () throws(JSONError) in try JSON(parsing: bytes, maximumDepth: maximumDepth) }
  }
}

extension JSONObject {
  /// Parses a JSON document that must be an object.
  ///
  /// - Throws: ``JSONError``; ``JSONError/Reason/notAnObject`` for any other value.
  public init(parsing bytes: UnsafeRawBufferPointer, maximumDepth: Int = 64) throws(JSONError) {
    self = try Self.object(in: JSON(parsing: bytes, maximumDepth: maximumDepth))
  }

  /// Parses a JSON object; see ``init(parsing:maximumDepth:)-(UnsafeRawBufferPointer,_)``.
  public init(parsing bytes: [UInt8], maximumDepth: Int = 64) throws(JSONError) {
    self = try Self.object(in: JSON(parsing: bytes, maximumDepth: maximumDepth))
  }

  /// Parses a JSON object. Offsets in errors count from the start of the slice.
  public init(parsing bytes: ArraySlice<UInt8>, maximumDepth: Int = 64) throws(JSONError) {
    self = try Self.object(in: JSON(parsing: bytes, maximumDepth: maximumDepth))
  }

  private static func object(in value: JSON) throws(JSONError) -> JSONObject {
    guard case .object(let object) = value else { throw JSONError(.notAnObject, at: 0) }
    return object
  }
}
