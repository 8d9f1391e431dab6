// Replays that operators asked for, from their commands and what the lanes' owners wrote about them. A value.

internal import AppStore
internal import Millrace

/// The runs there are, the newest last.
struct RunTable: Sendable {
  /// One command to a lane to send records again.
  struct Run: Sendable, Hashable {
    enum State: Sendable, Hashable {
      case waiting
      case running
      case done
      case failed(String)
    }

    var id: String
    var worker: String
    var topic: String
    var lane: Int32
    var total: Int64
    var sent: Int64
    var isReapply: Bool
    var by: String
    var why: String
    var startedAt: Timestamp
    var changedAt: Timestamp
    var state: State
  }

  static let limit = 500

  private var runs: [String: Run] = [:]
  private var order: [String] = []

  var newestFirst: [Run] { order.reversed().compactMap { runs[$0] } }

  /// Takes a record of the operations topic in. An item of a replay is its own: nobody can be second.
  mutating func fold(_ record: OperationsRecord) {
    switch record {
    case .command(let command):
      guard case .replay(let topic, let from, let to, let isReapply) = command.action, runs[command.item] == nil
      else { return }
      runs[command.item] = Run(
        id: command.item, worker: command.worker, topic: topic, lane: command.lane, total: to - from, sent: 0,
        isReapply: isReapply, by: command.by, why: command.why, startedAt: command.at, changedAt: command.at,
        state: .waiting)
      order.append(command.item)
      starts[command.item] = from
      if order.count > Self.limit {
        let oldest = order.removeFirst()
        runs[oldest] = nil
        starts[oldest] = nil
      }
    case .result(let result):
      guard var run = runs[result.item] else { return }
      run.changedAt = result.at
      switch result.outcome {
      case .progress(let next):
        run.state = .running
        run.sent = max(run.sent, next - (starts[run.id] ?? next))
      case .done:
        run.state = .done
        run.sent = run.total
      case .failed(let detail): run.state = .failed(detail)
      }
      runs[result.item] = run
    }
  }

  private var starts: [String: Int64] = [:]
}
