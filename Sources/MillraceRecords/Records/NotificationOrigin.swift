/// `ce_origin`: how a notification reached its topic.
public enum NotificationOrigin: String, Sendable, Hashable, CaseIterable {
  /// Apple posted it.
  case post
  /// A backfill fetched it from Apple's notification history.
  case history
  /// A replay sent it again from one of Millrace's topics.
  case replay
  /// An operator's command wrote it.
  case command
}
