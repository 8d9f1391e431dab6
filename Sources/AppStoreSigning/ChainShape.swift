/// The properties of a generated chain. The default matches Apple's chain; each change introduces one fault.
public struct ChainShape: Sendable, Hashable {
  /// The curve of the leaf's key.
  public enum LeafKey: String, Sendable, Hashable {
    /// The curve that ES256 requires and Apple uses.
    case p256
    /// A curve with which no ES256 signature can be verified.
    case p384
  }

  /// The object identifier of Apple's marker on receipt signing leaves.
  public static let appleLeafMarker = "1.2.840.113635.100.6.11.1"
  /// The object identifier of Apple's marker on the Worldwide Developer Relations intermediate.
  public static let appleIntermediateMarker = "1.2.840.113635.100.6.2.1"

  /// The object identifier of the leaf's marker extension, in dotted form; nil for none.
  public var leafMarker: String? = ChainShape.appleLeafMarker
  /// The object identifier of the intermediate's marker extension, in dotted form; nil for none.
  public var intermediateMarker: String? = ChainShape.appleIntermediateMarker
  /// The curve of the leaf's key.
  public var leafKey: LeafKey = .p256
  /// The OCSP responder's URL in the leaf and intermediate; nil for none.
  public var ocspURL: String? = "http://ocsp.millrace.invalid/test"
  /// The organization in every distinguished name. Two chains with the same organization differ in their keys only.
  public var organization = "Millrace Test"

  /// A chain like Apple's.
  public init() {}
}
