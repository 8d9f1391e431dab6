internal import CRDKafka
internal import Synchronization

/// Counts the transactional requests of a client that ended without an answer: their connection broke, or they timed out.
///
/// A broker may still receive such a request, after librdkafka has repeated it on another connection and has gone on. A
/// request carries the producer's id and epoch, and not its transaction, so it then acts on a later transaction.
/// librdkafka reports the end of every request to an interceptor before it repeats the request. A commit or an abort
/// therefore returns only after every request of the transaction without an answer was counted. Error events do not
/// suffice: they are missing for some broken connections.
final class UnansweredRequests: Sendable {
  private let counter = Atomic<Int>(0)

  /// The number of requests without an answer so far.
  var count: Int { counter.load(ordering: .sequentiallyConsistent) }

  /// The keys of Kafka's protocol (https://kafka.apache.org/protocol#protocol_api_keys) whose late arrival can change a
  /// transaction: Produce, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn and TxnOffsetCommit. A late InitProducerId fences
  /// the client that sent it, which no later client could prevent.
  private static let keys: Set<Int16> = [0, 24, 25, 26, 28]

  /// Makes a client report the ends of its requests. The client must not outlive this object.
  func install(on conf: OpaquePointer?) {
    rd_kafka_conf_interceptor_add_on_new(
      conf, "unanswered-requests",
      { rk, _, opaque, _, _ in
        rd_kafka_interceptor_add_on_response_received(
          rk, "unanswered-requests",
          { _, _, _, _, key, _, _, _, _, error, opaque in
            if error != RD_KAFKA_RESP_ERR_NO_ERROR, let opaque, UnansweredRequests.keys.contains(key) {
              Unmanaged<UnansweredRequests>.fromOpaque(opaque).takeUnretainedValue()
                .counter.add(1, ordering: .sequentiallyConsistent)
            }
            return RD_KAFKA_RESP_ERR_NO_ERROR
          }, opaque)
      }, Unmanaged.passUnretained(self).toOpaque())
  }
}
