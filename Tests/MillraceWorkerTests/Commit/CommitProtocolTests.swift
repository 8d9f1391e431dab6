import AppStoreSigning
import Testing

@testable import MillraceWorker

@Suite struct CommitProtocolTests {
  private func steps(_ mode: CommitProtocol.Mode) -> [CommitProtocol.Next] {
    var commit = CommitProtocol(mode)
    var steps = [CommitProtocol.Next.step(commit.step, isAgain: false)]
    while case .step = steps[steps.count - 1] { steps.append(commit.succeeded()) }
    return steps
  }

  private func steps(_ names: [CommitProtocol.Step], _ end: CommitProtocol.Next) -> [CommitProtocol.Next] {
    names.map { .step($0, isAgain: false) } + [end]
  }

  @Test func `a transaction contains records and offsets`() {
    #expect(steps(.transactional) == steps([.begin, .write, .sendOffsets, .commitTransaction], .committed))
  }

  @Test func `at-least-once writes the ledger after all records are acknowledged, and offsets last`() {
    #expect(steps(.atLeastOnce) == steps([.write, .writeLedger, .commitOffsets], .committed))
    var commit = CommitProtocol(.atLeastOnce)
    check(commit.failed(.retriable) == .aborted)
    #expect(commit.step == .write, "offsets must not be committed")
  }

  @Test func `a failed offset commit does not undo written records`() {
    var commit = CommitProtocol(.atLeastOnce)
    _ = commit.succeeded()
    check(commit.failed(.abortable) == .step(.writeLedger, isAgain: true))
    _ = commit.succeeded()
    check(commit.failed(.retriable) == .step(.commitOffsets, isAgain: true))
    check(commit.failed(.abortable) == .written)
  }

  @Test(arguments: [0, 1, 2])
  func `an abortable failure aborts the transaction, and the same outcomes are retried`(succeeded: Int) {
    var commit = CommitProtocol(.transactional)
    for _ in 0..<succeeded { _ = commit.succeeded() }
    check(commit.failed(.abortable) == .step(.abort, isAgain: false))
    check(commit.failed(.retriable) == .step(.abort, isAgain: true))
    check(commit.succeeded() == .aborted)
  }

  @Test(arguments: [true, false])
  func `the result of a failed commit is unclear, whether the abort succeeds or not`(
    abortSucceeds: Bool
  ) {
    var commit = CommitProtocol(.transactional)
    for _ in 0..<3 { _ = commit.succeeded() }
    check(commit.failed(.retriable) == .step(.commitTransaction, isAgain: true))
    check(commit.failed(.abortable) == .step(.abort, isAgain: false))
    check((abortSucceeds ? commit.succeeded() : commit.failed(.abortable)) == .unclear)
    #expect(commit.isUnclear)
  }

  @Test func `a record that was not acknowledged aborts the transaction`() {
    var commit = CommitProtocol(.transactional)
    _ = commit.succeeded()
    check(commit.failed(.retriable) == .step(.abort, isAgain: false))
  }

  @Test(arguments: [CommitProtocol.Mode.transactional, .atLeastOnce])
  func `a fatal error fails the commit at any step`(mode: CommitProtocol.Mode) {
    var commit = CommitProtocol(mode)
    check(commit.failed(.fatal) == .failed)
    _ = commit.succeeded()
    check(commit.failed(.fatal) == .failed)
  }

  @Test(arguments: 0..<1_000 as Range<UInt64>)
  func `committed means that every step succeeded, for any failures`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let isTransactional = Bool.random(using: &random)
    var commit = CommitProtocol(isTransactional ? .transactional : .atLeastOnce)
    var done: Set<CommitProtocol.Step> = []
    var hasFailedToCommit = false
    for _ in 0..<100 {
      let step = commit.step
      let next: CommitProtocol.Next
      switch Int.random(in: 0..<6, using: &random) {
      case 0: next = commit.failed(.retriable)
      case 1:
        if step == .commitTransaction { hasFailedToCommit = true }
        next = commit.failed(.abortable)
      default:
        done.insert(step)
        next = commit.succeeded()
      }
      switch next {
      case .step: continue
      case .committed:
        let needed: Set<CommitProtocol.Step> =
          isTransactional
          ? [.begin, .write, .sendOffsets, .commitTransaction] : [.write, .writeLedger, .commitOffsets]
        #expect(done == needed, "seed \(seed)")
      case .written: #expect(done == [.write, .writeLedger] && !isTransactional, "seed \(seed)")
      case .unclear: #expect(hasFailedToCommit, "seed \(seed)")
      case .aborted:
        #expect(!hasFailedToCommit, "seed \(seed)")
        #expect(!done.contains(.commitTransaction) && !done.contains(.commitOffsets), "seed \(seed)")
      case .failed: Issue.record("seed \(seed): failed without a fatal error")
      }
      return
    }
  }
}
