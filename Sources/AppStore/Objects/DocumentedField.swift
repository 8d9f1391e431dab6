// The documented fields of a type: the name in JSON and the property in Swift.

/// A field in Apple's documentation and the property that reads and writes it.
public struct DocumentedField<Object: AppStoreObject>: Sendable {
  /// The name in Apple's spelling.
  public let name: String
  /// The documented kind of JSON value.
  public let kind: JSONKind

  let read: @Sendable (Object) -> JSON?
  let write: @Sendable (JSON, inout Object) -> Void
  let odd: @Sendable (JSON, String) -> [OddField]
  /// The type of the property.
  let type: any JSONRepresentable.Type
  /// The constraints of the field in a request of the Advanced Commerce API.
  let rules: [RequestRule]
  /// The only value that Apple allows; nil if there are several.
  let constant: String?

  init<Value: JSONRepresentable>(
    _ name: String, _ property: any WritableKeyPath<Object, Value?> & Sendable, _ rules: [RequestRule] = [],
    constant: String? = nil
  ) {
    self.name = name
    self.rules = rules
    self.constant = constant
    type = Value.self
    kind = Value.jsonKind
    read = { $0[keyPath: property]?.jsonValue }
    write = { $1[keyPath: property] = Value(jsonValue: $0) }
    odd = Value.oddFields(in:at:)
  }

  /// Returns the property's value as JSON; nil if it is absent or has another type.
  public func value(in object: Object) -> JSON? { read(object) }
}
