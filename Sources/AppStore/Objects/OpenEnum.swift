// Apple adds values to its enumerations without a new version: an unknown one must pass through, not fail.

/// An enumeration of Apple's whose known values are static members and whose unknown values are kept as they came.
public protocol OpenEnum: RawRepresentable, JSONRepresentable, Hashable, Codable, CustomStringConvertible
where RawValue: JSONRepresentable & Hashable & Codable {
  /// Any value, known or not.
  init(rawValue: RawValue)

  /// The values that Apple documents, in the order of its page.
  static var allKnown: [Self] { get }
}

extension OpenEnum {
  /// Whether Apple documents this value.
  public var isKnown: Bool { Self.allKnown.contains(self) }

  /// The value as Apple writes it.
  public var description: String { "\(rawValue)" }

  /// The kind of the raw value.
  public static var jsonKind: JSONKind { RawValue.jsonKind }

  /// Any value of the right JSON kind, known or not.
  public init?(jsonValue: JSON) {
    guard let rawValue = RawValue(jsonValue: jsonValue) else { return nil }
    self.init(rawValue: rawValue)
  }

  /// The raw value as JSON.
  public var jsonValue: JSON { rawValue.jsonValue }
}
