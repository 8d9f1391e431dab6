import Testing

@testable import MillraceWorker

@Suite struct LedgerVerdictTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var arrival: Arrival
    var state: Handled.State?
    var verdict: LedgerVerdict
    var testDescription: String { "\(arrival) finds \(state.map { "\($0)" } ?? "nothing")" }

    init(_ arrival: Arrival, _ state: Handled.State?, _ verdict: LedgerVerdict) {
      (self.arrival, self.state, self.verdict) = (arrival, state, verdict)
    }
  }

  private static let retry = Arrival.retry(attempt: 2, reapplying: false)
  private static let requeue = Arrival.requeue(reapplying: false)
  private static let requeueReapply = Arrival.requeue(reapplying: true)
  private static let retryReapply = Arrival.retry(attempt: 2, reapplying: true)
  private static let done = Handled.State.done(digest: 7)
  private static let delayed = Handled.State.delayed(attempt: 2, delayIndex: 1)

  static let table: [Row] = [
    Row(.live, nil, .run(attempt: 0)), Row(.live, done, .skip(.duplicate)), Row(.live, delayed, .skip(.delayed)),
    Row(.live, .dead, .skip(.dead)),
    Row(retry, nil, .run(attempt: 2)), Row(retry, done, .skip(.duplicate)), Row(retry, delayed, .run(attempt: 2)),
    Row(retry, .delayed(attempt: 3, delayIndex: 2), .skip(.superseded)),
    Row(retry, .delayed(attempt: 1, delayIndex: 0), .run(attempt: 2)), Row(retry, .dead, .skip(.dead)),
    Row(.replay, nil, .run(attempt: 0)), Row(.replay, done, .skip(.duplicate)), Row(.replay, delayed, .skip(.delayed)),
    Row(.replay, .dead, .skip(.dead)),
    Row(.reapply, nil, .run(attempt: 0)), Row(.reapply, done, .reapply(attempt: 0, digest: 7)),
    Row(.reapply, delayed, .skip(.delayed)), Row(.reapply, .dead, .skip(.dead)),
    Row(retryReapply, nil, .run(attempt: 2)), Row(retryReapply, done, .reapply(attempt: 2, digest: 7)),
    Row(retryReapply, delayed, .run(attempt: 2)), Row(retryReapply, .dead, .skip(.dead)),
    Row(requeue, nil, .run(attempt: 0)), Row(requeue, done, .skip(.duplicate)),
    Row(requeue, delayed, .skip(.delayed)), Row(requeue, .dead, .run(attempt: 0)),
    Row(requeueReapply, nil, .run(attempt: 0)), Row(requeueReapply, done, .reapply(attempt: 0, digest: 7)),
    Row(requeueReapply, delayed, .skip(.delayed)), Row(requeueReapply, .dead, .run(attempt: 0)),
  ]

  @Test(arguments: table)
  func `every arrival has the expected verdict for every state`(row: Row) {
    var ledger = Ledger()
    if let state = row.state { ledger.restore(.handled(.number(1), Handled(state, minute: 1))) }
    #expect(ledger.verdict(for: .number(1), arriving: row.arrival) == row.verdict)
    // A staged state has the same verdict as a committed one.
    var staged = Ledger()
    if let state = row.state { staged.stage(.handled(.number(1), Handled(state, minute: 1))) }
    #expect(staged.verdict(for: .number(1), arriving: row.arrival) == row.verdict)
  }

  /// If the delayed copy should have arrived by now, any other arrival runs, and a copy that arrives later is skipped.
  @Test(arguments: [.live, .replay, .reapply, requeue, requeueReapply] as [Arrival])
  func `an overdue delayed notification runs when it is sent again`(arrival: Arrival) {
    for delayIndex in [1, nil] {
      var ledger = Ledger()
      let delayed = Handled(.delayed(attempt: 2, delayIndex: delayIndex), minute: 5)
      ledger.restore(.handled(.number(1), delayed))
      #expect(ledger.verdict(for: .number(1), arriving: arrival) { $0 != delayed } == .skip(.delayed))
      #expect(ledger.verdict(for: .number(1), arriving: arrival) { $0 == delayed } == .run(attempt: 3))
      // It is delayed again without a failure, so the older copy is skipped.
      ledger.stage(.handled(.number(1), Handled(.delayed(attempt: 3, delayIndex: 0), minute: 600)))
      #expect(ledger.verdict(for: .number(1), arriving: Self.retry) { _ in true } == .skip(.superseded))
      ledger.stage(.handled(.number(1), Handled(Self.done, minute: 601)))
      #expect(ledger.verdict(for: .number(1), arriving: Self.retry) { _ in true } == .skip(.duplicate))
    }
    for state in [Self.done, .dead] {
      var ledger = Ledger()
      ledger.restore(.handled(.number(1), Handled(state, minute: 5)))
      #expect(
        ledger.verdict(for: .number(1), arriving: arrival) { _ in true }
          == ledger.verdict(for: .number(1), arriving: arrival))
    }
  }

  @Test func `the table has every arrival with every state`() {
    #expect(Set(Self.table.map { "\($0.arrival) \($0.state.map { "\($0)".prefix(4) } ?? "")" }).count == 7 * 4)
  }
}
