// What an operator does about dead letters, through the same commands as `millrace dead-letters`: the console sends nothing
// to a worker itself, and of two operators the first one wins.

internal import AppStore
internal import Clocks
internal import Kafka
internal import Millrace
internal import Operations
internal import Synchronization

/// A decision about dead letters.
enum Decision: String, Sendable, Hashable, CaseIterable {
  /// Try them again.
  case requeue
  /// Leave them for good.
  case discard

  var verb: String {
    switch self {
    case .requeue: "Requeue"
    case .discard: "Discard"
    }
  }
}

/// What came of a decision about one of them.
struct DecisionOutcome: Sendable, Hashable {
  var key: DeadLetterSummary.Key
  var words: String
  var tone: Tone
}

/// Carries decisions out.
struct DeadLetterDesk: Sendable {
  let log: any RecordLog
  let prefix: String
  let clock: MillraceClock
  /// How long the lanes' owners may be silent before the page says so; the command stands all the same.
  let patience: Duration

  /// How the audit trail names this program.
  static let source = "millrace-console"
  /// Letters of one decision.
  static let limit = 1_000

  /// Carries out a decision.
  ///
  /// - Throws: ``OperationError`` for a letter that is not there; `KafkaError`.
  func settle(
    _ decision: Decision, _ keys: [DeadLetterSummary.Key], why: String, by user: String
  ) async throws -> [DecisionOutcome] {
    var outcomes: [DecisionOutcome] = []
    for (worker, ids) in Dictionary(grouping: keys, by: \.worker).sorted(by: { $0.key < $1.key }) {
      outcomes += try await settle(decision, ids.map(\.id), of: worker, why: why, by: user)
    }
    return outcomes
  }

  private func settle(
    _ decision: Decision, _ ids: [DeadLetterID], of worker: String, why: String, by user: String
  ) async throws -> [DecisionOutcome] {
    let operations = try WorkerOperations(
      worker: worker, prefix: prefix, on: log, author: user, source: Self.source, clock: clock)
    let heard = Mutex<[String: OperationReport.Event]>([:])
    // On record before the first command is given, with this user's name.
    _ = try await operations.settle(
      ids, by: decision == .requeue ? .requeue : .discard, why: why, patience: patience
    ) { report in heard.withLock { $0[report.item] = report.event } }
    return ids.sorted().map { id in
      let item = OperationCommand.deadLetter(lane: id.lane, offset: id.offset)
      return DecisionOutcome(
        DeadLetterSummary.Key(worker: worker, id: id), heard.withLock { $0[item] } ?? .unanswered, decision)
    }
  }
}

extension DecisionOutcome {
  init(_ key: DeadLetterSummary.Key, _ event: OperationReport.Event, _ decision: Decision) {
    self.key = key
    switch event {
    case .done: (words, tone) = (decision == .requeue ? "sent again" : "discarded", .good)
    case .failed(let detail): (words, tone) = ("not done: \(detail)", .bad)
    case .lost(let by, _, _, let standing): (words, tone) = ("\(by) was first: \(standing)", .warn)
    case .accepted, .unanswered:
      (words, tone) = ("asked; the worker has not answered yet, and will when it runs", .warn)
    }
  }
}
