// Rebuilds the body that Apple posted from the record in Kafka.

internal import AppStore

/// The bodies of posts to a receiver.
enum PostedBody {
  /// Returns a version 2 body: Apple's signed token inside the object that Apple posts. Tokens contain no characters
  /// that JSON escapes.
  static func v2(_ token: [UInt8]) -> [UInt8] { Array(#"{"signedPayload":""#.utf8) + token + Array(#""}"#.utf8) }

  /// Returns a version 1 body as stored, without the shared secret. If `secret` is given, escaped as in a JSON string,
  /// it is restored at its original place. If that place is unknown, it becomes the first member.
  static func v1(_ kept: [UInt8], secret: [UInt8]?, place: ResponseBodyV1.PasswordPlace?) -> [UInt8] {
    guard let secret else { return kept }
    if let posted = place?.restoring(secret, to: kept) { return posted }
    guard let brace = kept.firstIndex(of: UInt8(ascii: "{")) else { return kept }
    let rest = kept[(brace + 1)...]
    let isEmpty = rest.first { !Array(" \t\r\n".utf8).contains($0) } == UInt8(ascii: "}")
    return kept[...brace] + Array(#""password":""#.utf8) + secret + Array((isEmpty ? #"""# : #"","#).utf8) + rest
  }
}
