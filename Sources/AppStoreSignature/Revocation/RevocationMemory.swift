// What was found out about chains, until when it counts, and who is asking now. Decisions only: no I/O, no clock.
import AppStore

/// A bounded memory of answers; `Flight` is the question under way.
struct RevocationMemory<Flight> {
  enum Entry {
    case known(RevocationStatus, until: Timestamp)
    case asking(Flight)
  }

  enum Answer {
    /// Remembered and still fresh.
    case known(RevocationStatus)
    /// Somebody asks already: wait with them.
    case join(Flight)
    /// Nobody knows.
    case ask
  }

  private let capacity: Int
  private var entries: [CertificateChain: Entry] = [:]

  /// - Parameter capacity: chains that are remembered, at least one.
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

  /// Notes that somebody asks. Room is made by forgetting the answer that expires first, never a question under way.
  mutating func begin(_ flight: Flight, for chain: CertificateChain) {
    if entries.count >= capacity, entries[chain] == nil, let oldest = firstToExpire() { entries[oldest] = nil }
    entries[chain] = .asking(flight)
  }

  /// Notes the answer.
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
