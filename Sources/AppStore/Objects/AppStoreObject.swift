// The protocol of all payload models: a typed view of the JSON object that Apple sent.

/// A typed view of a JSON object from Apple.
///
/// The JSON is stored, and the properties read and write it. Unknown fields and values therefore survive decoding and
/// encoding. A field with an unexpected type reads as nil without affecting the others; ``oddFields`` lists it.
public protocol AppStoreObject: JSONRepresentable, Hashable, Codable {
  /// The object as received, including unknown fields, in order.
  var json: JSONObject { get set }

  /// Creates a view of a JSON object. Nothing is checked, because in practice all of Apple's fields are optional.
  init(json: JSONObject)

  /// The fields that Apple documents.
  static var documentedFields: [DocumentedField<Self>] { get }
}

extension AppStoreObject {
  /// Creates an object without fields.
  public init() { self.init(json: JSONObject()) }

  /// The field with this name and type; nil if it is absent or has another type. Setting nil removes the field.
  public subscript<Value: JSONRepresentable>(field: String) -> Value? {
    get { json[field].flatMap(Value.init(jsonValue:)) }
    set { json[field] = newValue?.jsonValue }
  }

  /// The documented fields that do not have their documented type, including those in nested objects. No payload from
  /// Apple is known to have any.
  public var oddFields: [OddField] { Self.oddFields(of: json, prefix: "") }

  fileprivate static func oddFields(of object: JSONObject, prefix: String) -> [OddField] {
    documentedFields.flatMap { field in object[field.name].map { field.odd($0, prefix + field.name) } ?? [] }
  }
}

extension AppStoreObject {
  /// Parses an object: UTF-8, nested at most `maximumDepth` deep.
  ///
  /// - Throws: ``JSONError`` if the bytes are not JSON or not an object. Fields that are missing or have another type
  ///   are not an error.
  public init(parsing bytes: UnsafeRawBufferPointer, maximumDepth: Int = 64) throws(JSONError) {
    self.init(json: try JSONObject(parsing: bytes, maximumDepth: maximumDepth))
  }

  /// Parses an object; see ``init(parsing:maximumDepth:)-(UnsafeRawBufferPointer,_)``.
  public init(parsing bytes: [UInt8], maximumDepth: Int = 64) throws(JSONError) {
    self.init(json: try JSONObject(parsing: bytes, maximumDepth: maximumDepth))
  }

  /// Parses an object; see ``init(parsing:maximumDepth:)-(UnsafeRawBufferPointer,_)``.
  public init(parsing bytes: ArraySlice<UInt8>, maximumDepth: Int = 64) throws(JSONError) {
    self.init(json: try JSONObject(parsing: bytes, maximumDepth: maximumDepth))
  }

  /// Returns the object as compact UTF-8, including unknown fields.
  public func serialized() -> [UInt8] { json.serialized() }
}

extension AppStoreObject {
  /// An object.
  public static var jsonKind: JSONKind { .object }

  /// Creates a view of a JSON object; nil for any other value.
  public init?(jsonValue: JSON) {
    guard case .object(let object) = jsonValue else { return nil }
    self.init(json: object)
  }

  /// The object as JSON.
  public var jsonValue: JSON { .object(json) }

  /// Returns the fields without their documented type, each at `path.field`.
  public static func oddFields(in value: JSON, at path: String) -> [OddField] {
    guard case .object(let object) = value else {
      return [OddField(path: path, expected: jsonKind, found: value.kind)]
    }
    return oddFields(of: object, prefix: path + ".")
  }

  /// Decodes the object; see ``JSON/init(from:)`` for the data that decoders lose.
  public init(from decoder: any Decoder) throws {
    self.init(json: try JSONObject(from: decoder))
  }

  /// Encodes the object, including unknown fields.
  public func encode(to encoder: any Encoder) throws {
    try json.encode(to: encoder)
  }
}
