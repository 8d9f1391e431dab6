// Requeues and discards dead letters with the same commands as `millrace dead-letters`. The console sends nothing to a
// worker directly. If two operators decide about the same dead letter, the first command wins.

internal import AppStore
internal import MillraceTime
internal import KafkaClient
internal import MillraceRecords
internal import MillraceWorker
internal import Operations
internal import Synchronization

/// The result of a decision for one dead letter.
struct DecisionOutcome: Sendable, Hashable {
  var key: DeadLetterKey
  var words: String
  var tone: Tone
}

/// Publishes an operator's decisions as commands to the workers and collects the results.
struct DeadLetterService: Sendable {
  let log: any RecordLog
  let prefix: String
  let clock: MillraceClock
  /// How long to wait for the results. A command that is unanswered by then stays valid.
  let patience: Duration

  /// The name of this program in the audit trail.
  static let source = "millrace-console"
  /// The largest number of dead letters in one decision.
  static let limit = 1_000

  /// Applies a decision to dead letters and returns the result of each.
  ///
  /// - Throws: ``OperationError`` if a dead letter does not exist; `KafkaError`.
  func settle(
    _ action: OperationReport.Action, _ keys: [DeadLetterKey], why: String, by user: String
  ) async throws -> [DecisionOutcome] {
    var outcomes: [DecisionOutcome] = []
    for (worker, ids) in Dictionary(grouping: keys, by: \.worker).sorted(by: { $0.key < $1.key }) {
      let operations = try WorkerOperations(
        worker: worker, prefix: prefix, on: log, author: user, source: Self.source, clock: clock)
      let heard = Mutex<[String: OperationReport.Event]>([:])
      // `settle` writes the audit record with this user's name before the first command.
      _ = try await operations.settle(ids.map(\.id), by: action, why: why, patience: patience) { report in
        heard.withLock { $0[report.item] = report.event }
      }
      outcomes += ids.sorted { $0.id < $1.id }.map { key in
        let item = OperationCommand.deadLetter(lane: key.id.lane, offset: key.id.offset)
        return DecisionOutcome(key, heard.withLock { $0[item] } ?? .unanswered, action)
      }
    }
    return outcomes
  }
}

extension DecisionOutcome {
  init(_ key: DeadLetterKey, _ event: OperationReport.Event, _ action: OperationReport.Action) {
    self.key = key
    switch event {
    case .done: (words, tone) = (action.participle, .good)
    case .failed(let detail): (words, tone) = ("not done: \(detail)", .bad)
    case .lost(let by, _, _, let status): (words, tone) = ("\(by) decided first: \(status)", .warn)
    case .accepted, .unanswered:
      (words, tone) = ("requested; the worker has not answered yet and will execute the command when it runs", .warn)
    }
  }
}

extension OperationReport.Action {
  /// The decision about dead letters that a form or an address names; nil if there is none.
  init?(decision name: String) {
    self.init(rawValue: name)
    if self == .erase { return nil }
  }

  var verb: String { self == .requeue ? "Requeue" : "Discard" }
}
