// Exit statuses that a supervisor can tell apart (sysexits.h).

internal import KafkaClient

/// The exit status of a process.
package enum ExitStatus: Int32, Sendable, Hashable {
  /// The process ended normally.
  case success = 0
  /// The command line was wrong (`EX_USAGE`).
  case usage = 64
  /// An external service is unavailable (`EX_UNAVAILABLE`).
  case unavailable = 69
  /// The process failed (`EX_SOFTWARE`).
  case software = 70
  /// Another process uses this process's name in its consumer group. A restart does not help while both run: the two
  /// would replace each other in turn.
  case nameTaken = 76
  /// The configuration, or a file that it names, is invalid (`EX_CONFIG`). A restart does not help.
  case configuration = 78

  /// Creates the status for an error that ended a process.
  package init(_ error: any Error) {
    if let error = error as? KafkaError, error.code == .invalidConfiguration {
      self = .configuration
      return
    }
    if let error = error as? KafkaError, !error.problems.isEmpty {
      self = .unavailable
      return
    }
    guard let error = error as? MillraceError else {
      self = .software
      return
    }
    switch error.area {
    case .configuration, .topics: self = .configuration
    case .unavailable: self = .unavailable
    case .record, .lifecycle: self = .software
    case .membership: self = .nameTaken
    }
  }
}
