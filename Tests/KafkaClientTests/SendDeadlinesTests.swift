// The deadlines of sends: one task ends all waits, and no send waits for it after its report.

import CRDKafka
import Synchronization
import Testing

@testable import KafkaClient

@Suite struct SendDeadlinesTests {
  @Test func `a send ends at its deadline, and may still be written`() async {
    let deadlines = SendDeadlines()
    let outcome = await withUnsafeContinuation { continuation in
      let send = PendingDelivery(topic: "t", isTransactional: false, deadlines: deadlines) {
        continuation.resume(returning: $0)
      }
      deadlines.add(send, until: .now)
    }
    guard case .failed(let error) = outcome else {
      Issue.record("acknowledged without a report")
      return
    }
    #expect(error.code == .messageTimedOut && error.persistence == .possiblyPersisted)
  }

  @Test func `a report before the deadline wins, and the send is forgotten`() async {
    let deadlines = SendDeadlines()
    let outcomes = Mutex<[DeliveryOutcome]>([])
    let send = PendingDelivery(topic: "t", isTransactional: false, deadlines: deadlines) { outcome in
      outcomes.withLock { $0.append(outcome) }
    }
    deadlines.add(send, until: .now + .seconds(3_600))
    var message = rd_kafka_message_t()
    message.offset = 7
    send.report(&message)
    #expect(deadlines.count == 0)
    send.expire()
    let all = outcomes.withLock { $0 }
    guard all.count == 1, case .acknowledged(let position)? = all.first else {
      Issue.record("\(all)")
      return
    }
    #expect(position.offset == 7)
  }

  @Test func `each of many sends ends, those with later deadlines after the others`() async {
    let deadlines = SendDeadlines()
    let start = ContinuousClock.now
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        let deadline = start + .milliseconds(number % 4 * 30)
        group.addTask {
          await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            let send = PendingDelivery(topic: "t", isTransactional: false, deadlines: deadlines) { _ in
              continuation.resume()
            }
            deadlines.add(send, until: deadline)
          }
          #expect(ContinuousClock.now >= deadline)
        }
      }
    }
    #expect(deadlines.count == 0)
  }
}
