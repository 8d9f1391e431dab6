/// What a generated chain looks like. The default has the shape of Apple's; each change makes one fault.
public struct ChainShape: Sendable, Hashable {
  /// The curve of the leaf's key.
  public enum LeafKey: String, Sendable, Hashable {
    /// What ES256 asks for and Apple uses.
    case p256
    /// A key no ES256 signature can verify under.
    case p384
  }

  /// The object identifier of Apple's marker on receipt signing leaves.
  public static let appleLeafMarker = "1.2.840.113635.100.6.11.1"
  /// The object identifier of Apple's marker on the Worldwide Developer Relations intermediate.
  public static let appleIntermediateMarker = "1.2.840.113635.100.6.2.1"

  /// Dotted object identifier of the marker extension in the leaf; nil for none.
  public var leafMarker: String? = ChainShape.appleLeafMarker
  /// Dotted object identifier of the marker extension in the intermediate; nil for none.
  public var intermediateMarker: String? = ChainShape.appleIntermediateMarker
  /// The curve of the leaf's key.
  public var leafKey: LeafKey = .p256
  /// Written into leaf and intermediate as the address of their OCSP responder; nil for none.
  public var ocspURL: String? = "http://ocsp.millrace.invalid/test"
  /// The organisation in every distinguished name. Two chains with one name differ in their keys only.
  public var organization = "Millrace Test"

  /// The shape of Apple's chain.
  public init() {}
}
