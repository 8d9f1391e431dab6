// Converts any error into terminal output and an exit status, in one table, so all commands behave alike.

internal import AppStore
internal import AppStoreServerAPI
internal import KafkaClient
internal import MillraceCore

/// The exit status of a command, from `sysexits.h` if it has a matching number.
package enum CommandStatus: Int32, Sendable, Hashable, CaseIterable {
  /// The command succeeded.
  case success = 0
  /// The command failed: the data is not genuine, the cluster did not answer, or a step was refused.
  case failure = 1
  /// The command line is wrong (`EX_USAGE`).
  case usage = 64
  /// The configuration or a topic file is wrong (`EX_CONFIG`).
  case configuration = 78
}

/// The output and the exit status for an error.
package struct FailureReport: Sendable, Hashable {
  /// The exit status.
  package var status: CommandStatus
  /// The lines for standard error, one per problem; empty if there is nothing to report.
  package var lines: [String]

  /// Creates the report of an error that ended a command.
  package init(_ error: any Error) {
    switch error {
    case let error as OperationError:
      switch error.kind {
      case .usage: self.init(.usage, ["\(error)"])
      case .failed: self.init(.failure, ["\(error)"])
      case .outputClosed: self.init(.success, [])
      }
    case let error as MillraceError:
      let isConfiguration = error.area == .configuration || error.area == .topics
      self.init(isConfiguration ? .configuration : .failure, error.problems.map(\.description))
    case let error as KafkaError:
      let isConfiguration = error.code == .invalidConfiguration
      self.init(isConfiguration ? .configuration : .failure, ["\(error); \(error.advice)"])
    case let error as APIError:
      self = Self.report(error)
    case is CancellationError:
      self.init(.failure, ["interrupted before the command was done; run it again"])
    default:
      self.init(.failure, ["\(error)"])
    }
  }

  private init(_ status: CommandStatus, _ lines: [String]) {
    self.status = status
    self.lines = lines
  }

  private static func report(_ error: APIError) -> FailureReport {
    if case .cancelled = error.kind { return FailureReport(CancellationError()) }
    // One line per violated rule, because they concern the command line.
    if case .violation(let violations) = error.kind { return FailureReport(.usage, violations.map { "\($0)" }) }
    return FailureReport(error.errorClass == .configuration ? .configuration : .failure, ["\(error)"])
  }
}
