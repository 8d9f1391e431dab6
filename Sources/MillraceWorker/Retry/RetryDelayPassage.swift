// Decides whether a delayed record would be back by now. No record waits for a copy that its retry topic no longer has.

internal import AppStore

/// The progress of a lane through its retry topics.
///
/// If retention or an operator deletes a delayed copy, the ledger would block its notification until the entry expires.
/// The copy counts as gone an hour after it was due, if the lane has run for an hour and no record as old waits in
/// memory.
///
/// A wrong guess does no harm. The record that runs instead has the same key, so the copy runs after it and finds a
/// later attempt or the final state in the ledger.
struct RetryDelayPassage: Sendable {
  /// The maximum lateness of a copy, including the clock differences between processes.
  static let grace = Duration.seconds(3_600)

  /// The delays of the retry topics.
  var delays: [Duration]
  /// For each retry topic, the earliest due time of the records in memory. A retry topic is read in order, so unread
  /// records are younger.
  var nextDue: [Timestamp?]
  /// The time when the lane started to read.
  var started: Timestamp
  var now: Timestamp

  /// Whether a delayed record with this state would be back by now. False for any other state.
  func hasPassed(_ handled: Handled) -> Bool {
    guard case .delayed(_, let delayIndex) = handled.state else { return false }
    // Without an index, or with one that no longer exists, the copy may be on any retry topic.
    let indices = delayIndex.flatMap { delays.indices.contains($0) ? $0..<$0 + 1 : nil } ?? delays.indices
    let wait = delays[indices].max() ?? .zero
    // The ledger's times have a resolution of one minute.
    let due = Timestamp(millisecondsSince1970: (Int64(handled.minute) + 1) * 60_000) + wait
    guard now > max(due, started) + Self.grace else { return false }
    return !nextDue.indices.contains { indices.contains($0) && (nextDue[$0].map { $0 <= due } ?? false) }
  }
}
