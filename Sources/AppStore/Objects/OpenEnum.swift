// Apple adds values to its enumerations without a new version, so an unknown value is passed through and is not an
// error.

/// An enumeration with known values as static members; unknown values are preserved.
public protocol OpenEnum: RawRepresentable, JSONRepresentable, Hashable, Codable, CustomStringConvertible
where RawValue: JSONRepresentable & Hashable & Codable {
  /// Creates a value, known or unknown.
  init(rawValue: RawValue)

  /// The values that Apple documents, in the order of Apple's page.
  static var allKnown: [Self] { get }
}

extension OpenEnum {
  /// Whether Apple documents this value.
  public var isKnown: Bool { Self.allKnown.contains(self) }

  /// The value as Apple writes it.
  public var description: String { "\(rawValue)" }

  /// The kind of the raw value.
  public static var jsonKind: JSONKind { RawValue.jsonKind }

  /// Creates a value, known or unknown, from JSON of the correct kind.
  public init?(jsonValue: JSON) {
    guard let rawValue = RawValue(jsonValue: jsonValue) else { return nil }
    self.init(rawValue: rawValue)
  }

  /// The raw value as JSON.
  public var jsonValue: JSON { rawValue.jsonValue }
}
