// Tells one outcome from another in 32 bits, for `--reapply`.

/// A digest of what an outcome publishes: FNV-1a over its parts, each with its length.
///
/// It is no protection: who may write to a worker's ledger may do more than forge a digest. Two outcomes that differ
/// look alike once in four thousand million.
struct OutcomeDigest: Sendable, Hashable {
  private var state: UInt64 = 0xCBF2_9CE4_8422_2325

  /// An outcome that publishes nothing.
  init() {}

  /// Adds a part, for instance an event's name, key or content; nil differs from empty.
  mutating func add(_ part: some Collection<UInt8>, isPresent: Bool = true) {
    mix(isPresent ? 1 : 0)
    withUnsafeBytes(of: UInt64(part.count).littleEndian) { $0.forEach { mix($0) } }
    for byte in part { mix(byte) }
  }

  /// The digest so far.
  var value: UInt32 { UInt32(truncatingIfNeeded: state ^ (state >> 32)) }

  private mutating func mix(_ byte: UInt8) { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
}
