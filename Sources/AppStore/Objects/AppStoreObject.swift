// The shape of every payload model: a typed view over the JSON object that Apple sent.

/// An object of Apple's, as a typed view over the JSON it came in.
///
/// The JSON is what is stored; properties read it and write it. So every unknown field and every unknown value survives
/// decoding and encoding, and a field of an unexpected type reads as nil without harm to the others: it is named by
/// ``oddFields``.
public protocol AppStoreObject: JSONRepresentable, Hashable, Codable {
  /// Everything that came, known or not, in the order it came.
  var json: JSONObject { get set }

  /// A view over that object. Nothing is checked: all of Apple's fields are optional in practice.
  init(json: JSONObject)

  /// The fields that Apple documents.
  static var documentedFields: [DocumentedField<Self>] { get }
}

extension AppStoreObject {
  /// An object without fields, to be filled.
  public init() { self.init(json: JSONObject()) }

  /// The field of that name read as that type: nil when absent or of another type. Setting nil removes the field.
  public subscript<Value: JSONRepresentable>(field: String) -> Value? {
    get { json[field].flatMap(Value.init(jsonValue:)) }
    set { json[field] = newValue?.jsonValue }
  }

  /// The documented fields that are not of their documented type, nested objects included. Empty in everything that
  /// Apple is known to have sent.
  public var oddFields: [OddField] { Self.oddFields(of: json, prefix: "") }

  fileprivate static func oddFields(of object: JSONObject, prefix: String) -> [OddField] {
    documentedFields.flatMap { field in object[field.name].map { field.odd($0, prefix + field.name) } ?? [] }
  }
}

extension AppStoreObject {
  /// The object that `bytes` hold: compact or not, UTF-8, nested at most `maximumDepth` deep.
  ///
  /// - Throws: ``JSONError`` when the bytes are not JSON or not an object. Odd or missing fields are no error.
  public init(parsing bytes: UnsafeRawBufferPointer, maximumDepth: Int = 64) throws(JSONError) {
    self.init(json: try JSONObject(parsing: bytes, maximumDepth: maximumDepth))
  }

  /// The object that `bytes` hold; see ``init(parsing:maximumDepth:)-(UnsafeRawBufferPointer,_)``.
  public init(parsing bytes: [UInt8], maximumDepth: Int = 64) throws(JSONError) {
    self.init(json: try JSONObject(parsing: bytes, maximumDepth: maximumDepth))
  }

  /// The object that `bytes` hold; see ``init(parsing:maximumDepth:)-(UnsafeRawBufferPointer,_)``.
  public init(parsing bytes: ArraySlice<UInt8>, maximumDepth: Int = 64) throws(JSONError) {
    self.init(json: try JSONObject(parsing: bytes, maximumDepth: maximumDepth))
  }

  /// The object as compact UTF-8, everything unknown included.
  public func serialized() -> [UInt8] { json.serialized() }
}

extension AppStoreObject {
  /// An object.
  public static var jsonKind: JSONKind { .object }

  /// A view over a JSON object; nil for anything else.
  public init?(jsonValue: JSON) {
    guard case .object(let object) = jsonValue else { return nil }
    self.init(json: object)
  }

  /// The object as JSON.
  public var jsonValue: JSON { .object(json) }

  /// What is odd in the object, each field at `path.field`.
  public static func oddFields(in value: JSON, at path: String) -> [OddField] {
    guard case .object(let object) = value else {
      return [OddField(path: path, expected: jsonKind, found: value.kind)]
    }
    return oddFields(of: object, prefix: path + ".")
  }

  /// Reads the object from any decoder; see ``JSON/init(from:)`` for what decoders lose.
  public init(from decoder: any Decoder) throws {
    self.init(json: try JSONObject(from: decoder))
  }

  /// Writes the object to any encoder, everything unknown included.
  public func encode(to encoder: any Encoder) throws {
    try json.encode(to: encoder)
  }
}
