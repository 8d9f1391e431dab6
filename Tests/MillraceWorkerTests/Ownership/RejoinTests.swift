import MillraceTime
import KafkaClient
import Testing

@testable import MillraceRecords
@testable import MillraceWorker

@Suite struct RejoinTests {
  private func error(_ code: KafkaError.Code) -> KafkaError {
    KafkaError(code: code, operation: "test", reason: "test", isFatal: true)
  }

  @Test func `an error that a new producer repairs is a loss with a reason`() {
    #expect(ProducerLoss(error(.fenced))?.reason == .fenced)
    #expect(ProducerLoss(error(.invalidProducerEpoch))?.reason == .fenced)
    #expect(ProducerLoss(error(.fenced), isCommitUnclear: true)?.reason == .fenced)
    #expect(ProducerLoss(error(.invalidTransactionState))?.reason == .unclearCommit)
    #expect(ProducerLoss(error(.timedOut), isCommitUnclear: true)?.reason == .unclearCommit)
    #expect(ProducerLoss(error(.timedOut))?.reason == .fatal)
    #expect(ProducerLoss(error(.fencedInstance))?.reason == .fencedInstance)
  }

  @Test(
    arguments: [
      .messageTooLarge, .unknownTopicOrPartition, .unknownTopic, .topicAuthorizationFailed, .invalidRecord,
      .transactionalIDAuthorizationFailed, .groupAuthorizationFailed, .clusterAuthorizationFailed,
      .invalidConfiguration, .unsupported,
    ] as [KafkaError.Code])
  func `an error that would occur again is not a loss`(code: KafkaError.Code) {
    #expect(ProducerLoss(error(code)) == nil)
  }

  @Test func `pauses grow without a commit, and then the worker gives up`() {
    var limit = RejoinLimit()
    var now = MillraceClock.Instant(elapsed: .zero)
    var pauses: [Duration] = []
    while let pause = limit.lost(now: now, hasCommitted: false) {
      pauses.append(pause)
      now = now.advanced(by: pause)
    }
    #expect(pauses == [250, 500, 1_000, 2_000, 4_000].map { Duration.milliseconds($0) })
  }

  @Test func `a commit between two losses resets the count, up to the limit of the window`() {
    var limit = RejoinLimit()
    var count = 0
    while limit.lost(now: MillraceClock.Instant(elapsed: .seconds(count)), hasCommitted: true) != nil { count += 1 }
    #expect(count == RejoinLimit.most - 1)
  }

  @Test func `losses before the window do not count`() {
    var limit = RejoinLimit()
    for number in 0..<200 {
      let now = MillraceClock.Instant(elapsed: RejoinLimit.window * number / 10)
      let pause = limit.lost(now: now, hasCommitted: true)
      #expect(pause == .milliseconds(250), "\(number)")
    }
  }

  @Test func `a fenced worker never gives up, and its pauses grow without a commit`() {
    var limit = RejoinLimit()
    let pauses = (0..<100).map { _ in limit.fenced(hasCommitted: false) }
    #expect(Array(pauses.prefix(4)) == [250, 500, 1_000, 2_000].map { Duration.milliseconds($0) })
    #expect(pauses.last == .seconds(15))
    #expect(limit.fenced(hasCommitted: true) == .milliseconds(250))
    // Being fenced does not use up the losses of producers.
    #expect(limit.lost(now: MillraceClock.Instant(elapsed: .zero), hasCommitted: false) == .milliseconds(250))
  }

  @Test func `the holder of a name is identified by its member IDs`() {
    let members = [
      GroupMember(id: "a-1", instance: "a", host: "/10.0.0.1"),
      GroupMember(id: "b-1", instance: nil, host: "/10.0.0.2"),
    ]
    #expect(InstanceHolder(of: "a", among: members, askedBy: ["a-0", "a-1"]) == .thisReader)
    let other = InstanceHolder.another(member: "a-1", host: "/10.0.0.1")
    #expect(InstanceHolder(of: "a", among: members, askedBy: ["a-0"]) == other)
    #expect(InstanceHolder(of: "b", among: members, askedBy: ["a-0"]) == .nobody)
    #expect(InstanceHolder(of: nil, among: members, askedBy: ["a-0"]) == .nobody)
  }
}
