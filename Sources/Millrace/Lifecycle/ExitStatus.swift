// How a process ends, in numbers that a supervisor can tell apart (sysexits.h).

internal import Kafka

/// The exit status of a process.
public enum ExitStatus: Int32, Sendable, Hashable {
  /// Everything was done.
  case success = 0
  /// The command line was wrong (`EX_USAGE`).
  case usage = 64
  /// Something outside the process is not there (`EX_UNAVAILABLE`).
  case unavailable = 69
  /// The process failed (`EX_SOFTWARE`).
  case software = 70
  /// The configuration, or a file that it names, is wrong (`EX_CONFIG`): starting again will not help.
  case configuration = 78

  /// The status for an error that ended a process.
  public init(_ error: any Error) {
    if let error = error as? KafkaError, error.code == .invalidConfiguration {
      self = .configuration
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
    }
  }
}
