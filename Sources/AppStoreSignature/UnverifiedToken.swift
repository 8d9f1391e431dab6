// Reading a token without believing it: for looking at records, quarantine and samples.
public import AppStore

/// The header and payload of a compact JWS, taken apart and not verified.
///
/// For showing, never for acting: anybody can write such a token.
public struct UnverifiedToken: Sendable, Hashable {
  /// The JOSE header.
  public let header: JSONObject
  /// The payload.
  public let payload: JSONObject

  /// Takes a token apart.
  ///
  /// - Throws: ``VerificationError/Reason/format`` for what is not three base64url segments with JSON objects in the
  ///   first two.
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

  private static func object(
    _ segment: UnsafeRawBufferPointer, _ name: String
  ) throws(VerificationError) -> JSONObject {
    guard let bytes = Base64.decodeURL(segment) else {
      throw VerificationError(.format, "the \(name) is not base64url")
    }
    do {
      return try JSONObject(parsing: bytes)
    } catch {
      throw VerificationError(.format, "the \(name) is no JSON object: \(error.reason.rawValue)")
    }
  }
}
