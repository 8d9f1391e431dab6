// From any error to what a terminal shows of it: readable lines and an exit status. A table, so that every command ends
// alike.

internal import AppStore
internal import AppStoreServerAPI
internal import Kafka
internal import Millrace

/// How a process of the command line ends, by `sysexits.h` where it has a number.
public enum CommandStatus: Int32, Sendable, Hashable, CaseIterable {
  /// It did what it was asked.
  case success = 0
  /// It did not: what was verified is not genuine, the cluster did not answer, a step was refused.
  case failure = 1
  /// The command line is wrong (`EX_USAGE`).
  case usage = 64
  /// The configuration or a topic file is wrong (`EX_CONFIG`).
  case configuration = 78
}

/// What is said of an error, and how the process ends.
public struct FailureReport: Sendable, Hashable {
  /// How the process ends.
  public var status: CommandStatus
  /// For standard error, one line for each problem; empty where there is nothing to say.
  public var lines: [String]

  /// The report of an error that ended a command.
  public init(_ error: any Error) {
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
      self.init(isConfiguration ? .configuration : .failure, ["\(error); \(Self.advice(error))"])
    case let error as APIError:
      self = Self.report(error)
    case is CancellationError:
      self.init(.failure, ["interrupted before it was done; run it again"])
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
    // One line for each rule: they are about what was typed.
    if case .violation(let violations) = error.kind { return FailureReport(.usage, violations.map { "\($0)" }) }
    return FailureReport(error.errorClass == .configuration ? .configuration : .failure, ["\(error)"])
  }

  private static func advice(_ error: KafkaError) -> String {
    if error.code == .invalidConfiguration { return "check kafka.properties" }
    if error.code == .unknownTopicOrPartition { return "create it with millrace topics apply" }
    if error.isRetriable { return "check kafka.bootstrapServers and that the brokers run" }
    return "look the code up in Kafka's documentation, and check the permissions of this user"
  }
}
