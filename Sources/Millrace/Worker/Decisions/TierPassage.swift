// Whether a parked record would have come back by now: what its tier does not hold any more is waited for by nobody.

internal import AppStore

/// How far the tiers of a lane are.
///
/// A copy that retention deleted, or somebody, would keep its notification out for as long as the ledger remembers it.
/// It is taken to be gone when the lane has been at work for longer than its wait and an hour, and nothing as old waits
/// in memory. Whoever is wrong about that does no harm: what runs instead has the same key, so the copy is handed out
/// behind it, and finds a later attempt or the end in the ledger.
struct TierPassage: Sendable {
  /// How late a copy may be, and by how much the clocks of processes may differ.
  static let grace = Duration.seconds(3_600)

  /// The delays of the tiers.
  var delays: [Duration]
  /// For each, the earliest due time of what was read and waits. A tier is read in its order, so what was not read is
  /// younger.
  var nextDue: [Timestamp?]
  /// When the lane began to read.
  var started: Timestamp
  var now: Timestamp

  /// Whether what was parked so is not to be waited for. What is not parked is not.
  func hasPassed(_ handled: Handled) -> Bool {
    guard case .parked(_, let tier) = handled.state else { return false }
    // Without a tier, or on one that is not there any more, it may have been on any.
    let tiers = tier.flatMap { delays.indices.contains($0) ? $0..<$0 + 1 : nil } ?? delays.indices
    let wait = delays[tiers].max() ?? .zero
    // The ledger knows the minute.
    let due = Timestamp(millisecondsSince1970: (Int64(handled.minute) + 1) * 60_000) + wait
    guard now > max(due, started) + Self.grace else { return false }
    return !nextDue.indices.contains { tiers.contains($0) && (nextDue[$0].map { $0 <= due } ?? false) }
  }
}
