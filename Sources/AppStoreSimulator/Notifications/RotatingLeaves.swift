// The signing chains: successive leaf certificates under the same root and intermediate. Apple's leaves overlap: the
// next leaf starts to sign some days before the previous one expires.

package import AppStore
package import AppStoreSigning
internal import Synchronization

/// A signing chain whose leaf certificate changes with time. The leaf at a given time is always the same, so that past
/// data can be signed again.
package final class RotatingLeaves: Sendable {
  /// The time for which a leaf remains valid after its last use, as long as Apple's.
  private static let overlap = Duration.seconds(22 * 86_400)
  /// The time for which a leaf is valid before its first use, including events before the world began.
  private static let lead = Duration.seconds(30 * 86_400)

  private let origin: Timestamp
  private let interval: Duration?
  private let first: SigningChain
  private let later = Mutex<[Int64: SigningChain]>([:])

  /// Creates chains whose first leaf is in use at `origin`.
  ///
  /// - Parameters:
  ///   - chain: the first chain; its leaf must be valid at `origin`.
  ///   - interval: the time for which a leaf is used; nil for unlimited.
  package init(_ chain: SigningChain, origin: Timestamp, interval: Duration?) {
    first = chain
    self.origin = origin
    self.interval = interval.flatMap { $0 > .zero ? $0 : nil }
  }

  /// The root certificate in PEM, which receivers have to trust.
  package var rootPEM: String { first.rootPEM }

  /// The root certificate in DER.
  package var rootDER: [UInt8] { first.rootDER }

  /// Returns the chain whose leaf signs at `moment`.
  ///
  /// - Throws: ``SigningError`` if a new leaf cannot be built.
  package func chain(at moment: Timestamp) throws(SigningError) -> SigningChain {
    guard let interval, moment >= origin else { return first }
    let number = Int64((moment - origin) / interval)
    guard number > 0 else { return first }
    if let known = later.withLock({ $0[number] }) { return known }
    let start = origin + interval * Double(number)
    let leaf = try first.rotatingLeaf(notBefore: start - Self.lead, notAfter: start + interval + Self.overlap)
    // Two concurrent calls build two leaves; both use the one that was stored first.
    return later.withLock { known in
      if let other = known[number] { return other }
      // Requests for history reach back months and need only a few intervals; older leaves are not needed again.
      if known.count >= 256, let oldest = known.keys.min() { known[oldest] = nil }
      known[number] = leaf
      return leaf
    }
  }
}
