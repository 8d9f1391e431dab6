// The cached revocation results, their expiration and the queries in progress, as a value without I/O or a clock.
import AppStore

/// A bounded cache of results; `Flight` is a query in progress.
struct RevocationMemory<Flight> {
  enum Entry {
    case known(RevocationStatus, until: Timestamp)
    case asking(Flight)
  }

  enum Answer {
    /// Cached and not expired.
    case known(RevocationStatus)
    /// A query is in progress: wait for its result.
    case join(Flight)
    /// No result is cached.
    case ask
  }

  private let capacity: Int
  private var entries: [CertificateChain: Entry] = [:]

  /// - Parameter capacity: the maximum number of cached chains; at least one.
  init(capacity: Int) {
    self.capacity = max(1, capacity)
  }

  var count: Int { entries.count }

  func answer(for chain: CertificateChain, now: Timestamp) -> Answer {
    switch entries[chain] {
    case .known(let status, let until)? where now < until: .known(status)
    case .asking(let flight)?: .join(flight)
    case .known?, nil: .ask
    }
  }

  /// Records a query in progress. If the cache is full, evicts the result that expires first, never a query in
  /// progress.
  mutating func begin(_ flight: Flight, for chain: CertificateChain) {
    if entries.count >= capacity, entries[chain] == nil, let oldest = firstToExpire() { entries[oldest] = nil }
    entries[chain] = .asking(flight)
  }

  /// Records the result.
  mutating func finish(_ chain: CertificateChain, _ status: RevocationStatus, until: Timestamp) {
    entries[chain] = .known(status, until: until)
  }

  private func firstToExpire() -> CertificateChain? {
    var found: (chain: CertificateChain, until: Timestamp)?
    for (chain, entry) in entries {
      guard case .known(_, let until) = entry else { continue }
      if let best = found, best.until <= until { continue }
      found = (chain, until)
    }
    return found?.chain
  }
}
