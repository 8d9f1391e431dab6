internal import CRDKafka
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Gives one client the tokens of a source. It runs on librdkafka's background thread, which also serves a client that is
/// not polled.
final class ClientTokens: Sendable {
  private let source: KafkaTokenSource
  private let last = Mutex<KafkaToken?>(nil)

  init(_ source: KafkaTokenSource) { self.source = source }

  func refresh(_ rk: OpaquePointer?) {
    switch source.waitForAnswer(known: last.withLock { $0 }) {
    case .token(let token):
      last.withLock { $0 = token }
      if let problem = Self.set(token, on: rk) { rd_kafka_oauthbearer_set_token_failure(rk, problem) }
    case .failure(let reason): rd_kafka_oauthbearer_set_token_failure(rk, reason)
    }
  }

  /// Sets the token of a client. The message of an error is not librdkafka's, which may contain the token.
  /// - Returns: The reason for which librdkafka refuses the token; nil if it does not.
  private static func set(_ token: KafkaToken, on rk: OpaquePointer?) -> String? {
    // Names and values in turn.
    let texts = token.extensions.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
    var extensions: [UnsafePointer<CChar>?] = texts.map { UnsafePointer(strdup($0)) }
    defer { for text in extensions { free(UnsafeMutablePointer(mutating: text)) } }
    let error = rd_kafka_oauthbearer_set_token(
      rk, token.value, token.expiresAt, token.principal, &extensions, extensions.count, nil, 0)
    guard error != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
    return "librdkafka refuses the token: \(String(cString: rd_kafka_err2str(error)))"
  }
}
