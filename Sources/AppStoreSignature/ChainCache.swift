// The chains that were found good, and the header segments that named them.
import Synchronization

/// A bounded memory of proven chains, shared by all tasks of a verifier.
///
/// Only what a trusted chain signed gets in, so nobody without Apple's key can fill it or push anything out: forged
/// tokens are compared and forgotten. The lock is held to read or replace two small arrays, never to compare bytes or
/// to do cryptography.
final class ChainCache: Sendable {
  /// A header segment, byte for byte, whose checks all passed, and the chain it carries.
  ///
  /// Base64url is decoded strictly, so a header has one spelling, and Apple's is the same in every token of a leaf:
  /// comparing it saves decoding 4 kB of Base64, JSON and certificates.
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

  /// - Parameter capacity: chains and, separately, headers that are remembered, at least one; the oldest leaves first.
  init(capacity: Int) {
    self.capacity = max(1, capacity)
    // Every header on the hot path is compared one after the other, so there are few.
    headerCapacity = min(self.capacity, 8)
  }

  /// The headers that need no decoding, newest first.
  var headers: [RecognisedHeader] { state.withLock { $0.headers } }

  /// The chains that are remembered, newest first.
  var proven: [ProvenChain] { state.withLock { $0.chains } }

  /// The proven chain of these two certificates.
  func chain(_ key: ChainKey) -> ProvenChain? {
    state.withLock { $0.chains }.first { $0.key == key }
  }

  /// Remembers a chain, and the header it came in, after a token under it passed signature, chain and date.
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

  /// Counts a chain that had to be built.
  func countBuilt() { state.withLock { $0.built += 1 } }

  /// What is remembered now.
  var statistics: ChainCacheStatistics {
    state.withLock {
      ChainCacheStatistics(chains: $0.chains.count, headers: $0.headers.count, built: $0.built)
    }
  }
}

/// How full the memory of proven chains is, for metrics.
public struct ChainCacheStatistics: Sendable, Hashable {
  /// Chains remembered.
  public let chains: Int
  /// Header segments remembered.
  public let headers: Int
  /// Chains that were built with public-key operations since the start. It grows with new leaves, with forged chains
  /// whose own leaf signed, and with nothing else.
  public let built: Int

  /// Statistics of these values.
  public init(chains: Int, headers: Int, built: Int) {
    self.chains = chains
    self.headers = headers
    self.built = built
  }
}
