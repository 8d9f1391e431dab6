// The chains that sign, one leaf after another under the same root and intermediate. Apple's leaves overlap: the next one
// signs some days before the last one ends.

public import AppStore
public import AppStoreSigning
internal import Synchronization

/// A chain whose leaf changes with time. The leaf of a moment is always the same, so that what was signed in the past can
/// be signed again.
public final class RotatingLeaves: Sendable {
  /// From the first moment of a leaf's use to its end: a leaf outlives its use by as long as Apple's do.
  private static let overlap = Duration.seconds(22 * 86_400)
  /// A leaf begins before it is used, also for what happened before the world began.
  private static let lead = Duration.seconds(30 * 86_400)

  private let origin: Timestamp
  private let interval: Duration?
  private let first: SigningChain
  private let later = Mutex<[Int64: SigningChain]>([:])

  /// One chain for the time around `origin`.
  ///
  /// - Parameters:
  ///   - chain: what signs first; its leaf must hold at `origin`.
  ///   - interval: how long a leaf is used; nil: for ever.
  public init(_ chain: SigningChain, origin: Timestamp, interval: Duration?) {
    first = chain
    self.origin = origin
    self.interval = interval.flatMap { $0 > .zero ? $0 : nil }
  }

  /// The root's certificate in PEM, what receivers are told to trust.
  public var rootPEM: String { first.rootPEM }

  /// The root's certificate in DER.
  public var rootDER: [UInt8] { first.rootDER }

  /// The chain whose leaf signs at `moment`.
  ///
  /// - Throws: ``SigningError`` when a new leaf cannot be built.
  public func chain(at moment: Timestamp) throws(SigningError) -> SigningChain {
    guard let interval, moment >= origin else { return first }
    let number = Int64((moment - origin) / interval)
    guard number > 0 else { return first }
    if let known = later.withLock({ $0[number] }) { return known }
    let start = origin + interval * Double(number)
    let leaf = try first.rotatingLeaf(notBefore: start - Self.lead, notAfter: start + interval + Self.overlap)
    // Two that come at once build two; all use the one that was first.
    return later.withLock { known in
      if let other = known[number] { return other }
      // History reaches back months: the leaves of a few intervals are enough, others are never asked for again.
      if known.count >= 256, let oldest = known.keys.min() { known[oldest] = nil }
      known[number] = leaf
      return leaf
    }
  }
}
