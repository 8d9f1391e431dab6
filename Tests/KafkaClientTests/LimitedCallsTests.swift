// Tests the end of a wait for a call of librdkafka that does not return.

import Dispatch
import Testing

@testable import KafkaClient

@Suite(.timeLimit(.minutes(5))) struct LimitedCallsTests {
  private let calls = LimitedCalls()
  private let thread = BlockingThread(label: "test")

  @Test func `a call that returns in time has its result or its error`() async throws {
    #expect(try await calls.run("count", within: .seconds(60), on: thread) { 5 } == 5)
    let refusal = KafkaError(code: .closed, operation: "count", reason: "a test")
    let error = await #expect(throws: KafkaError.self) {
      try await calls.run("count", within: .seconds(60), on: thread) { () throws(KafkaError) -> Int in throw refusal }
    }
    #expect(error == refusal)
    calls.endWaits(at: .now + .seconds(120))
    #expect(try await calls.run("count", within: .seconds(60), on: thread) { 6 } == 6, "nothing waited")
  }

  @Test func `the wait for a call that does not return ends with a fatal error, and so do later calls`() async throws {
    let (calls, thread, isReleased) = (calls, thread, DispatchSemaphore(value: 0))
    let (began, begin) = AsyncStream.makeStream(of: Void.self)
    let call = Task {
      await #expect(throws: KafkaError.self) {
        try await calls.run("send offsets", within: .seconds(25), on: thread) {
          begin.finish()
          isReleased.wait()
        }
      }
    }
    for await _ in began {}
    let behind = Task {
      await #expect(throws: KafkaError.self) { try await calls.run("abort", within: .seconds(25), on: thread) {} }
    }
    calls.endWaits(at: .now + .seconds(24))
    #expect(!calls.isStuck)
    calls.endWaits(at: .now + .seconds(26))
    #expect(calls.isStuck)
    let error = await call.value
    #expect(error?.code == .timedOut && error?.isFatal == true && error?.transactionRemedy == .replace)
    #expect(error?.description.contains("send offsets") == true, "\(error?.description ?? "")")
    let next = await #expect(throws: KafkaError.self) {
      try await calls.run("begin", within: .seconds(25), on: thread) { Issue.record("a lost client was used") }
    }
    #expect(next?.isFatal == true)
    calls.endWaits(at: .now + .seconds(60))
    #expect(await behind.value?.isFatal == true)
    // The result that comes too late is dropped.
    isReleased.signal()
    await thread.run {}
  }
}
