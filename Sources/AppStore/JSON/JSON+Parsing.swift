// Bytes to JSON: the way the product decodes. Nothing of Foundation is involved.

extension JSON {
  /// The JSON document (RFC 8259, UTF-8, no byte order mark) that `bytes` hold.
  ///
  /// - Parameters:
  ///   - bytes: the whole document; white space around it is allowed.
  ///   - maximumDepth: how deep arrays and objects may be nested, at most 512.
  /// - Throws: ``JSONError`` with the offset in bytes.
  public init(parsing bytes: UnsafeRawBufferPointer, maximumDepth: Int = 64) throws(JSONError) {
    var parser = JSONParser(bytes, maximumDepth: maximumDepth)
    self = try parser.document()
  }

  /// The JSON document that `bytes` hold; see ``init(parsing:maximumDepth:)-(UnsafeRawBufferPointer,_)``.
  public init(parsing bytes: [UInt8], maximumDepth: Int = 64) throws(JSONError) {
    self = try bytes.withUnsafeBytes { Self.result(of: $0, maximumDepth) }.get()
  }

  /// The JSON document that `bytes` hold; offsets in errors count from the start of the slice.
  public init(parsing bytes: ArraySlice<UInt8>, maximumDepth: Int = 64) throws(JSONError) {
    self = try bytes.withUnsafeBytes { Self.result(of: $0, maximumDepth) }.get()
  }

  /// A result, because the standard library's closures do not carry a typed error.
  private static func result(of bytes: UnsafeRawBufferPointer, _ maximumDepth: Int) -> Result<JSON, JSONError> {
    Result { () throws(JSONError) in try JSON(parsing: bytes, maximumDepth: maximumDepth) }
  }
}

extension JSONObject {
  /// The JSON document that `bytes` hold, which must be an object.
  ///
  /// - Throws: ``JSONError``; ``JSONError/Reason/notAnObject`` for any other value.
  public init(parsing bytes: UnsafeRawBufferPointer, maximumDepth: Int = 64) throws(JSONError) {
    self = try Self.object(in: JSON(parsing: bytes, maximumDepth: maximumDepth))
  }

  /// The JSON object that `bytes` hold; see ``init(parsing:maximumDepth:)-(UnsafeRawBufferPointer,_)``.
  public init(parsing bytes: [UInt8], maximumDepth: Int = 64) throws(JSONError) {
    self = try Self.object(in: JSON(parsing: bytes, maximumDepth: maximumDepth))
  }

  /// The JSON object that `bytes` hold; offsets in errors count from the start of the slice.
  public init(parsing bytes: ArraySlice<UInt8>, maximumDepth: Int = 64) throws(JSONError) {
    self = try Self.object(in: JSON(parsing: bytes, maximumDepth: maximumDepth))
  }

  private static func object(in value: JSON) throws(JSONError) -> JSONObject {
    guard case .object(let object) = value else { throw JSONError(.notAnObject, at: 0) }
    return object
  }
}
