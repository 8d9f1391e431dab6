// How a notification came to its topic.

/// `ce_origin`: how a notification came to its topic.
public enum NotificationOrigin: String, Sendable, Hashable, CaseIterable {
  /// Apple posted it.
  case post
  /// It was fetched from Apple's notification history (backfill).
  case history
  /// It was sent again from a topic of ours.
  case replay
}
