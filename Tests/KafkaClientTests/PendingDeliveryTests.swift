// What a delivery report of librdkafka means for the sender.

import CRDKafka
import Synchronization
import Testing

@testable import KafkaClient

@Suite struct PendingDeliveryTests {
  @Test func `a report with an offset is an acknowledgement`() throws {
    guard case .acknowledged(let position)? = outcome(offset: 7) else {
      Issue.record("not acknowledged")
      return
    }
    #expect(position == RecordPosition(topic: "t", partition: 3, offset: 7))
  }

  /// librdkafka reports a record as written if a later one of the partition is (`rd_kafka_dr_implicit_ack`), and for
  /// `DUPLICATE_SEQUENCE_NUMBER`. Records of a new producer were lost that way while brokers were paused.
  @Test(arguments: [false, true]) func `a report of success without an offset leaves the record in doubt`(
    isTransactional: Bool
  ) throws {
    guard
      case .failed(let error)? = outcome(
        offset: Int64(RD_KAFKA_OFFSET_INVALID), isTransactional: isTransactional)
    else {
      Issue.record("taken as acknowledged")
      return
    }
    #expect(error.code == .inDoubt && error.persistence == .possiblyPersisted)
    #expect(error.requiresAbort == isTransactional && error.isRetriable != isTransactional)
  }

  private func outcome(offset: Int64, isTransactional: Bool = false) -> DeliveryOutcome? {
    let outcomes = Mutex<[DeliveryOutcome]>([])
    let pending = PendingDelivery(topic: "t", isTransactional: isTransactional) { outcome in
      outcomes.withLock { $0.append(outcome) }
    }
    var message = rd_kafka_message_t()
    message.err = RD_KAFKA_RESP_ERR_NO_ERROR
    message.partition = 3
    message.offset = offset
    pending.report(&message)
    return outcomes.withLock { $0.first }
  }
}
