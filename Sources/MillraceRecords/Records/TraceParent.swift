// The trace that a notification carries from the request to its consumers.

internal import MillraceCore

/// The trace of a notification: the `traceparent` header of W3C Trace Context. It comes from the request or is new, and
/// the record carries it.
public struct TraceParent: Sendable, Hashable, CustomStringConvertible {
  /// The trace's id: 16 bytes, not all zero.
  public let traceID: [UInt8]
  /// The id of the parent of the reader's spans: 8 bytes, not all zero.
  public let parentID: [UInt8]
  /// Whether the caller may have recorded the trace.
  public let isSampled: Bool

  /// Parses a header's value; `nil` if the recommendation does not allow it.
  ///
  /// As the recommendation asks, later versions are parsed like version 00, and `ff` is refused.
  public init?(_ text: String) { self.init(utf8: Array(text.utf8)) }

  /// Parses a header's bytes.
  init?(utf8 bytes: [UInt8]) {
    let dash = UInt8(ascii: "-")
    guard bytes.count >= 55, bytes[2] == dash, bytes[35] == dash, bytes[52] == dash,
      bytes.count == 55 || bytes[55] == dash, let version = Hex.bytes(bytes[0..<2])?.first, version != 0xFF,
      version != 0 || bytes.count == 55, let traceID = Hex.bytes(bytes[3..<35]),
      let parentID = Hex.bytes(bytes[36..<52]), let flags = Hex.bytes(bytes[53..<55])?.first,
      traceID.contains(where: { $0 != 0 }), parentID.contains(where: { $0 != 0 })
    else { return nil }
    self.traceID = traceID
    self.parentID = parentID
    self.isSampled = flags & 1 == 1
  }

  /// Creates a new trace. It is not sampled, because no caller has recorded it.
  public init(using generator: inout some RandomNumberGenerator) {
    // An all-zero identifier is invalid; setting one bit excludes it.
    traceID = Self.bytes(of: generator.next()) + Self.bytes(of: generator.next() | 1)
    parentID = Self.bytes(of: generator.next() | 1)
    isSampled = false
  }

  /// Returns the trace in a request's header, or a new one if the header is missing or invalid.
  public static func continuing(
    _ header: String?, using generator: inout some RandomNumberGenerator
  ) -> TraceParent {
    header.flatMap { TraceParent($0) } ?? TraceParent(using: &generator)
  }

  /// Returns the trace in a request's header, or a new one if the header is missing or invalid.
  public static func continuing(_ header: String?) -> TraceParent {
    var generator = SystemRandomNumberGenerator()
    return continuing(header, using: &generator)
  }

  /// The header's value, version 00.
  public var description: String {
    "00-\(Hex.text(traceID))-\(Hex.text(parentID))-0\(isSampled ? 1 : 0)"
  }

  private static func bytes(of value: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * UInt64($0))) }
  }
}
