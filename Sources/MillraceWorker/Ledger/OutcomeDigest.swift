// A 32-bit digest by which `--reapply` compares outcomes.

/// A digest of the events of an outcome: FNV-1a over its parts, each with its length.
///
/// It does not protect against forgery: a program that can write to a worker's ledger can do more than forge a digest.
/// Two different outcomes have the same digest once in four billion.
struct OutcomeDigest: Sendable, Hashable {
  private var state: UInt64 = 0xCBF2_9CE4_8422_2325

  /// Creates the digest of an outcome without events.
  init() {}

  /// Adds a part, for instance an event's name, key or content. Nil differs from empty.
  mutating func add(_ part: some Collection<UInt8>, isPresent: Bool = true) {
    mix(isPresent ? 1 : 0)
    withUnsafeBytes(of: UInt64(part.count).littleEndian) { $0.forEach { mix($0) } }
    for byte in part { mix(byte) }
  }

  /// The digest so far.
  var value: UInt32 { UInt32(truncatingIfNeeded: state ^ (state >> 32)) }

  // MARK: - Deliveries

  /// The digest of an outcome without events.
  private static let empty = OutcomeDigest().value
  private static let statuses: ClosedRange<UInt32> = 100...599

  /// Returns the digest of a delivery that a receiver accepted. It is the digest of an outcome without events plus the HTTP
  /// status. Earlier versions read it as another outcome.
  static func delivery(_ status: Int) -> UInt32 {
    guard let status = UInt32(exactly: status), statuses.contains(status) else { return empty }
    return empty &+ status
  }

  /// The HTTP status of a delivery; nil for other outcomes.
  static func status(of digest: UInt32) -> Int? {
    let status = digest &- empty
    return statuses.contains(status) ? Int(status) : nil
  }

  /// Returns the part of a digest by which outcomes are compared. Deliveries with different statuses are equal.
  static func compared(_ digest: UInt32) -> UInt32 { status(of: digest) == nil ? digest : empty }

  private mutating func mix(_ byte: UInt8) { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
}
