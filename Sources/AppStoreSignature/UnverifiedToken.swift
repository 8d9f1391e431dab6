// Reads a token without verifying it, for inspecting records, the quarantine and samples.
public import AppStore

/// The header and payload of a compact JWS, parsed but not verified.
///
/// Use it for display only. Any client can create such a token.
public struct UnverifiedToken: Sendable, Hashable {
  /// The JOSE header.
  public let header: JSONObject
  /// The payload.
  public let payload: JSONObject

  /// Parses a token.
  ///
  /// - Throws: ``VerificationError/Reason/format`` unless the input is three base64url segments and the first two are
  ///   JSON objects.
  public init(parsing jws: some Collection<UInt8>) throws(VerificationError) {
    let read = { (bytes: UnsafeRawBufferPointer) -> Result<(JSONObject, JSONObject), VerificationError> in
      Result { () throws(VerificationError) in
        let token = try CompactToken(bytes)
        guard Base64.decodeURL(token.signature) != nil else {
          throw VerificationError(.format, "the signature is not base64url")
        }
        return (try Self.object(token.header, "header"), try Self.object(token.payload, "payload"))
      }
    }
    if let result = jws.withContiguousStorageIfAvailable({ read(UnsafeRawBufferPointer($0)) }) {
      (header, payload) = try result.get()
    } else {
      (header, payload) = try Array(jws).withUnsafeBytes(read).get()
    }
  }

  /// Returns the payload of a token alone.
  static func payload(of jws: String) throws(VerificationError) -> JSONObject {
    let read = { (bytes: UnsafeRawBufferPointer) -> Result<JSONObject, VerificationError> in
      Result { () throws(VerificationError) in try object(try CompactToken(bytes).payload, "payload") }
    }
    if let result = jws.utf8.withContiguousStorageIfAvailable({ read(UnsafeRawBufferPointer($0)) }) {
      return try result.get()
    }
    return try Array(jws.utf8).withUnsafeBytes(read).get()
  }

  private static func object(
    _ segment: UnsafeRawBufferPointer, _ name: String
  ) throws(VerificationError) -> JSONObject {
    guard let bytes = Base64.decodeURL(segment) else {
      throw VerificationError(.format, "the \(name) is not base64url")
    }
    do {
      return try JSONObject(parsing: bytes)
    } catch {
      throw VerificationError(.format, "the \(name) is not a JSON object: \(error.reason.rawValue)")
    }
  }
}
