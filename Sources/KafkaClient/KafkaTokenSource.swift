internal import Dispatch
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Provides the clients of a configuration with tokens for SASL/OAUTHBEARER.
///
/// librdkafka asks for a token when a client starts and when 80 % of a token's time has passed, and again ten seconds
/// after a failure (INTRODUCTION.md, "OAuthBearer with support for OIDC"). All clients share the token of one fetch. The
/// client reports a failure as an error with the code `authentication`, and uses its last token until that expires.
public final class KafkaTokenSource: Sendable, Hashable {
  private let cache: TokenCache

  /// Creates a source that fetches nothing yet.
  ///
  /// - Parameters:
  ///   - ended: Receives the result of each fetch: the token's end in milliseconds since 1970, or the failure.
  ///   - fetch: Fetches a token. It must return within seconds: a client that is being closed waits for it. Its error
  ///     is logged, so it must not contain a secret.
  public convenience init(
    ended: @escaping @Sendable (Result<Int64, any Error>) -> Void = { _ in },
    fetch: @escaping @Sendable () async throws -> KafkaToken
  ) {
    self.init(now: Self.now, ended: ended, fetch: fetch)
  }

  init(
    now: @escaping @Sendable () -> Int64, ended: @escaping @Sendable (Result<Int64, any Error>) -> Void,
    fetch: @escaping @Sendable () async throws -> KafkaToken
  ) {
    cache = TokenCache(now: now, ended: ended, fetch: fetch)
  }

  /// Returns the answer to a client's request for a token.
  /// - Parameter known: The token that the client has.
  func answer(known: KafkaToken?) async -> TokenAnswer { await cache.answer(known: known) }

  /// Returns the answer, and blocks the calling thread until there is one. The thread must not belong to the cooperative
  /// pool.
  func waitForAnswer(known: KafkaToken?) -> TokenAnswer {
    let slot = AnswerSlot()
    Task { slot.fill(await answer(known: known)) }
    return slot.wait()
  }

  private static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// Whether both are the same source.
  public static func == (left: KafkaTokenSource, right: KafkaTokenSource) -> Bool { left === right }
  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The answer to a client's request for a token.
enum TokenAnswer: Sendable, Hashable {
  /// Use this token.
  case token(KafkaToken)
  /// There is no other token than the client's, for this reason.
  case failure(String)
}

/// The last token of a source. Concurrent requests share one fetch.
private actor TokenCache {
  private let now: @Sendable () -> Int64
  private let ended: @Sendable (Result<Int64, any Error>) -> Void
  private let fetch: @Sendable () async throws -> KafkaToken
  private var token: KafkaToken?
  private var refreshAt: Int64 = 0
  /// Why the last fetch failed; nil after a success.
  private var failure: String?
  /// The next fetch does not begin before this time.
  private var retryAt: Int64 = 0
  private var flight: Task<TokenAnswer, Never>?

  /// How long all clients share a failure, in milliseconds. librdkafka asks again after ten seconds.
  private static let failureMemory: Int64 = 5_000

  init(
    now: @escaping @Sendable () -> Int64, ended: @escaping @Sendable (Result<Int64, any Error>) -> Void,
    fetch: @escaping @Sendable () async throws -> KafkaToken
  ) {
    self.now = now
    self.ended = ended
    self.fetch = fetch
  }

  func answer(known: KafkaToken?) async -> TokenAnswer {
    let time = now()
    let present = token.flatMap { $0.expiresAt > time ? $0 : nil }
    if let present, time < refreshAt { return .token(present) }
    let isRunning = flight != nil
    if !isRunning, time >= retryAt { flight = Task { await renew() } }
    // A client without a token does not wait for the next one while this one is valid.
    if let present, present != known { return .token(present) }
    // A fetch after a failure may take seconds, in which a readiness check has to say why there is no token.
    if let failure, isRunning || flight == nil { return .failure(failure) }
    return await flight?.value ?? .failure("there is no token")
  }

  private func renew() async -> TokenAnswer {
    defer { flight = nil }
    do {
      let new = try await fetch()
      let start = now()
      if let objection = new.objection(at: start) { throw TokenError(description: objection) }
      token = new
      // Earlier than librdkafka, whose request after 80 % must lead to a fetch.
      refreshAt = start + (new.expiresAt - start) / 4 * 3
      (failure, retryAt) = (nil, 0)
      ended(.success(new.expiresAt))
      return .token(new)
    } catch {
      let text = "\(error)"
      let reason = text.isEmpty ? "no reason is known" : text
      failure = reason
      retryAt = now() + Self.failureMemory
      ended(.failure(error))
      return .failure(reason)
    }
  }
}

private struct TokenError: Error, CustomStringConvertible {
  let description: String
}

/// Hands an answer from a task to a thread that waits.
private final class AnswerSlot: Sendable {
  private let answer = Mutex<TokenAnswer?>(nil)
  private let isFilled = DispatchSemaphore(value: 0)

  func fill(_ answer: TokenAnswer) {
    self.answer.withLock { $0 = answer }
    isFilled.signal()
  }

  func wait() -> TokenAnswer {
    isFilled.wait()
    return answer.withLock { $0 } ?? .failure("there is no token")
  }
}
