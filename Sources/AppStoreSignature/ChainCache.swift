// Caches verified chains and the header segments that contained them.
import Synchronization

/// A bounded cache of verified chains, shared by all tasks of a verifier.
///
/// Only chains that lead to a trusted root are cached. Without Apple's key, an attacker can therefore neither fill the
/// cache nor evict its entries. The lock is held only to read or replace two small arrays, never to compare bytes or do
/// cryptography.
final class ChainCache: Sendable {
  /// A header segment that passed all checks, and the chain it contains.
  ///
  /// Base64url is decoded strictly, so a header has exactly one encoding. Apple's header is the same in every token of
  /// a leaf. Comparing it avoids decoding 4 kB of Base64, JSON and certificates.
  struct RecognisedHeader: Sendable {
    let segment: [UInt8]
    let chain: ProvenChain
  }

  private struct State {
    var chains: [ProvenChain] = []
    var headers: [RecognisedHeader] = []
    var built = 0
  }

  private let capacity: Int
  private let headerCapacity: Int
  private let state = Mutex(State())

  /// - Parameter capacity: the maximum number of chains and, separately, of headers; at least one. The oldest are
  ///   evicted first.
  init(capacity: Int) {
    self.capacity = max(1, capacity)
    // Headers are compared one after another on the hot path, so only a few are cached.
    headerCapacity = min(self.capacity, 8)
  }

  /// The cached headers, newest first.
  var headers: [RecognisedHeader] { state.withLock { $0.headers } }

  /// The cached chains, newest first.
  var proven: [ProvenChain] { state.withLock { $0.chains } }

  /// Returns the cached chain of these two certificates.
  func chain(_ key: ChainKey) -> ProvenChain? {
    state.withLock { $0.chains }.first { $0.key == key }
  }

  /// Caches a chain and the header that contained it. The caller has verified a token's signature, chain and date.
  func insert(_ chain: ProvenChain, headerSegment: [UInt8]) {
    state.withLock { state in
      if !state.chains.contains(where: { $0 === chain || $0.key == chain.key }) {
        state.chains.insert(chain, at: 0)
        if state.chains.count > capacity { state.chains.removeLast() }
      }
      if !state.headers.contains(where: { $0.segment == headerSegment }) {
        state.headers.insert(RecognisedHeader(segment: headerSegment, chain: chain), at: 0)
        if state.headers.count > headerCapacity { state.headers.removeLast() }
      }
    }
  }

  /// Counts a chain that was built.
  func countBuilt() { state.withLock { $0.built += 1 } }

  /// The current size of the cache.
  var statistics: ChainCacheStatistics {
    state.withLock {
      ChainCacheStatistics(chains: $0.chains.count, headers: $0.headers.count, built: $0.built)
    }
  }
}

/// The size of the chain cache, for metrics.
public struct ChainCacheStatistics: Sendable, Hashable {
  /// The number of cached chains.
  public let chains: Int
  /// The number of cached header segments.
  public let headers: Int
  /// The number of chains built with public-key operations since the start. It grows only with new leaves and with
  /// forged chains whose own leaf signed the token.
  public let built: Int

  /// Creates statistics.
  public init(chains: Int, headers: Int, built: Int) {
    self.chains = chains
    self.headers = headers
    self.built = built
  }
}
