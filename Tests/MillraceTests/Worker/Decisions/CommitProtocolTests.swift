import AppStoreSigning
import Testing

@testable import Millrace

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

  @Test func `a transaction holds records and offsets`() {
    #expect(steps(.transactional) == steps([.begin, .write, .sendOffsets, .commitTransaction], .committed))
  }

  @Test func `at least once tells the ledger only after every record was acknowledged, and commits offsets last`() {
    #expect(steps(.atLeastOnce) == steps([.write, .writeLedger, .commitOffsets], .committed))
    var commit = CommitProtocol(.atLeastOnce)
    check(commit.failed(.retriable) == .aborted)
    #expect(commit.step == .write, "no offsets")
  }

  @Test func `offsets that cannot be committed do not undo what is written`() {
    var commit = CommitProtocol(.atLeastOnce)
    _ = commit.succeeded()
    check(commit.failed(.abortable) == .step(.writeLedger, isAgain: true))
    _ = commit.succeeded()
    check(commit.failed(.retriable) == .step(.commitOffsets, isAgain: true))
    check(commit.failed(.abortable) == .written)
  }

  @Test(arguments: [0, 1, 2, 3])
  func `what spoils a transaction aborts it, and then the same outcomes come again`(succeeded: Int) {
    var commit = CommitProtocol(.transactional)
    for _ in 0..<succeeded { _ = commit.succeeded() }
    check(commit.failed(.abortable) == .step(.abort, isAgain: false))
    check(commit.failed(.retriable) == .step(.abort, isAgain: true))
    check(commit.succeeded() == .aborted)
  }

  @Test func `a record that was not acknowledged is never assumed to be anywhere`() {
    var commit = CommitProtocol(.transactional)
    _ = commit.succeeded()
    check(commit.failed(.retriable) == .step(.abort, isAgain: false))
  }

  @Test(arguments: [CommitProtocol.Mode.transactional, .atLeastOnce])
  func `what is fatal ends the process at any step`(mode: CommitProtocol.Mode) {
    var commit = CommitProtocol(mode)
    check(commit.failed(.fatal) == .failed)
    _ = commit.succeeded()
    check(commit.failed(.fatal) == .failed)
  }

  @Test(arguments: 0..<1_000 as Range<UInt64>)
  func `whatever fails, committed means every step succeeded`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let isTransactional = Bool.random(using: &random)
    var commit = CommitProtocol(isTransactional ? .transactional : .atLeastOnce)
    var done: Set<CommitProtocol.Step> = []
    for _ in 0..<100 {
      let step = commit.step
      let next: CommitProtocol.Next
      switch Int.random(in: 0..<6, using: &random) {
      case 0: next = commit.failed(.retriable)
      case 1: next = commit.failed(.abortable)
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
      case .aborted: #expect(!done.contains(.commitTransaction) && !done.contains(.commitOffsets), "seed \(seed)")
      case .failed: Issue.record("seed \(seed): nothing was fatal")
      }
      return
    }
  }
}
