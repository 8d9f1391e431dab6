// The list that each type keeps of its documented fields: name in JSON and property in Swift, side by side.

/// A field of Apple's documentation and the property that reads and writes it.
public struct DocumentedField<Object: AppStoreObject>: Sendable {
  /// The name, spelled as Apple spells it.
  public let name: String
  /// The kind of JSON value that Apple documents.
  public let kind: JSONKind

  let read: @Sendable (Object) -> JSON?
  let write: @Sendable (JSON, inout Object) -> Void
  let odd: @Sendable (JSON, String) -> [OddField]

  init<Value: JSONRepresentable>(_ name: String, _ property: any WritableKeyPath<Object, Value?> & Sendable) {
    self.name = name
    kind = Value.jsonKind
    read = { $0[keyPath: property]?.jsonValue }
    write = { $1[keyPath: property] = Value(jsonValue: $0) }
    odd = Value.oddFields(in:at:)
  }

  /// The value as the property reads it, turned back into JSON; nil when it is absent or odd.
  public func value(in object: Object) -> JSON? { read(object) }
}
