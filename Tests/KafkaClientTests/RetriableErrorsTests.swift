// Tests that every error code of librdkafka is classified: whether the same call may succeed later, or why it does not.

import CRDKafka
import Testing

@testable import KafkaClient

@Suite struct RetriableErrorsTests {
  /// The version of the headers on Debian 12. The table must list all of its codes.
  private static let oldest: Int32 = 0x0200_02ff

  /// The codes of the library that runs, by name.
  private var codes: [KafkaError.Code: String] {
    var descriptions: UnsafePointer<rd_kafka_err_desc>?
    var count = 0
    rd_kafka_get_err_descs(&descriptions, &count)
    return Dictionary(
      UnsafeBufferPointer(start: descriptions, count: count).compactMap { each in
        each.name.map { (KafkaError.Code(rawValue: each.code.rawValue), String(cString: $0)) }
      }
    ) { first, _ in first }
  }

  @Test func `every error code of librdkafka is in the table`() {
    let codes = codes
    #expect(codes.count > 150)
    let missing = codes.filter { KafkaError.table[$0.key] == nil }.map { "\($0.value) (\($0.key.rawValue))" }.sorted()
    // A newer library may have codes that this release does not know. Until they are listed, they are not retriable.
    if rd_kafka_version() <= Self.oldest {
      #expect(missing.isEmpty, "\(missing)")
    } else if !missing.isEmpty {
      print("librdkafka \(String(cString: rd_kafka_version_str())) has codes that the table does not list: \(missing)")
    }
    for code in codes.keys where KafkaError.table[code] == nil {
      #expect(KafkaError.retriability(of: code) == .no(.unknown))
    }
  }

  @Test func `no code is listed twice`() {
    #expect(KafkaError.listed.count == Set(KafkaError.listed).count)
  }

  @Test(arguments: [
    (RD_KAFKA_RESP_ERR__TRANSPORT, true, false), (RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, true, false),
    (RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, false, true), (RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, false, true),
    (RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, false, false), (RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, false, false),
    (rd_kafka_resp_err_t(rawValue: 9_999), false, false),
  ])
  func `an error says whether it passes`(code: rd_kafka_resp_err_t, isRetriable: Bool, isUnknownTopic: Bool) {
    let error = KafkaError(code, operation: "test")
    #expect(error.isRetriable == isRetriable && error.isUnknownTopic == isUnknownTopic, "\(error)")
  }
}
