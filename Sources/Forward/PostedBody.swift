// What Apple posted, made again of what the topics keep.

internal import AppStore

/// The body of a post to a receiver.
enum PostedBody {
  /// A version 2 body: the token as Apple signed it, in the object that Apple posts it in. A token holds nothing that
  /// JSON escapes.
  static func v2(_ token: [UInt8]) -> [UInt8] { Array(#"{"signedPayload":""#.utf8) + token + Array(#""}"#.utf8) }

  /// A version 1 body as it is kept, without its secret; with `secret`, as it stands in a JSON string, where it stood,
  /// else in the first member.
  static func v1(_ kept: [UInt8], secret: [UInt8]?, place: ResponseBodyV1.PasswordPlace?) -> [UInt8] {
    guard let secret else { return kept }
    if let posted = place?.restoring(secret, to: kept) { return posted }
    guard let brace = kept.firstIndex(of: UInt8(ascii: "{")) else { return kept }
    let rest = kept[(brace + 1)...]
    let isEmpty = rest.first { !Array(" \t\r\n".utf8).contains($0) } == UInt8(ascii: "}")
    return kept[...brace] + Array(#""password":""#.utf8) + secret + Array((isEmpty ? #"""# : #"","#).utf8) + rest
  }
}
