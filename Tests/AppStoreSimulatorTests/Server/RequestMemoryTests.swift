import AppStore
import Testing

@testable import AppStoreSimulator

/// A memory as a reference type, because expectations cannot call mutating methods.
private final class Memory {
  private var memory: RequestMemory

  init(_ model: RequestMemoryModel) { memory = RequestMemory(model) }

  func recall(_ key: RequestMemory.Key, body: [UInt8]) -> RequestMemory.Recall { memory.recall(key, body: body) }
  func remember(_ answer: APIAnswer, for key: RequestMemory.Key) { memory.remember(answer, for: key) }
}

@Suite struct RequestMemoryTests {
  private let key = RequestMemory.Key(
    bundleId: "com.example.app", environment: .production, endpoint: .extendSubscriptionRenewalDate, subject: "2000",
    requestIdentifier: "campaign/2000")
  private let body = Array("{}".utf8)
  private let success = APIAnswer.json(["success": true])
  private let refusal = APIAnswer.failure(.subscriptionMaxExtension)

  @Test func `a memory of everything repeats every decision`() {
    for answer in [success, refusal] {
      let memory = Memory(.everything)
      #expect(memory.recall(key, body: body) == RequestMemory.Recall())
      memory.remember(answer, for: key)
      #expect(memory.recall(key, body: body).answer == answer)
    }
  }

  @Test func `a memory of successes decides again after a refusal`() {
    let memory = Memory(.successes)
    _ = memory.recall(key, body: body)
    memory.remember(refusal, for: key)
    #expect(memory.recall(key, body: body).answer == nil)
    memory.remember(success, for: key)
    #expect(memory.recall(key, body: body).answer == success)
  }

  @Test func `without memory the effect is repeated and reported`() {
    let memory = Memory(.nothing)
    _ = memory.recall(key, body: body)
    memory.remember(refusal, for: key)
    #expect(memory.recall(key, body: body) == RequestMemory.Recall())
    memory.remember(success, for: key)
    #expect(memory.recall(key, body: body) == RequestMemory.Recall(repeatsEffect: true))
  }

  @Test(arguments: RequestMemoryModel.allCases)
  func `an identifier with another body or subject counts as reused`(model: RequestMemoryModel) {
    let memory = Memory(model)
    #expect(!memory.recall(key, body: body).isReused)
    #expect(!memory.recall(key, body: body).isReused)
    #expect(memory.recall(key, body: Array(#"{"extendByDays":9}"#.utf8)).isReused)
    var other = key
    other.subject = "2001"
    let recall = memory.recall(other, body: body)
    #expect(recall.isReused)
    #expect(recall.answer == nil)
  }

  @Test(arguments: [APIAnswer.empty(503), .failure(.generalInternal), .failure(.rateLimitExceeded)])
  func `failures of the service are not decisions`(answer: APIAnswer) {
    let memory = Memory(.everything)
    _ = memory.recall(key, body: body)
    memory.remember(answer, for: key)
    #expect(memory.recall(key, body: body).answer == nil)
  }

  @Test func `the oldest entries are forgotten, and the capacity is never exceeded`() {
    var memory = BoundedMemory<Int, Int>(capacity: 3)
    for number in 0..<10 { memory[number] = number }
    #expect(memory.count == 3)
    #expect((0..<10).map { memory[$0] } == [nil, nil, nil, nil, nil, nil, nil, 7, 8, 9])
    memory[8] = 88
    #expect(memory.count == 3)
    #expect(memory[8] == 88)
  }
}
