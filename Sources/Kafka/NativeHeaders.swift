internal import CRDKafka

extension [RecordHeader] {
  /// As librdkafka's list, or nil where there are none. The caller owns the result until a produce call succeeds.
  func makeNative() -> OpaquePointer? {
    guard !isEmpty, let list = rd_kafka_headers_new(count) else { return nil }
    for header in self {
      var name = header.name
      name.withUTF8 { name in
        name.withMemoryRebound(to: CChar.self) { name in
          // An empty Swift array may have no address; librdkafka reads a null pointer as "no value".
          if let value = header.value {
            value.withUnsafeBytes { bytes in
              withUnsafePointer(to: 0 as UInt8) { empty in
                _ = rd_kafka_header_add(
                  list, name.baseAddress, name.count, bytes.baseAddress ?? UnsafeRawPointer(empty), bytes.count)
              }
            }
          } else {
            _ = rd_kafka_header_add(list, name.baseAddress, name.count, nil, 0)
          }
        }
      }
    }
    return list
  }
}

extension ConsumerRecord {
  /// Copies a message of librdkafka. Names that are not UTF-8 are repaired, values are bytes.
  /// - Parameter topic: Its topic's name, which many records share.
  init(_ message: UnsafeMutablePointer<rd_kafka_message_t>, of topic: String) {
    let native = message.pointee
    var type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
    let timestamp = rd_kafka_message_timestamp(message, &type)
    self.init(
      topic: topic,
      partition: native.partition,
      offset: native.offset,
      timestamp: type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? nil : timestamp,
      key: Self.bytes(native.key, native.key_len),
      value: Self.bytes(native.payload, native.len),
      headers: Self.headers(of: message))
  }

  private static func bytes(_ start: UnsafeMutableRawPointer?, _ count: Int) -> [UInt8]? {
    start.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: count)) }
  }

  private static func headers(of message: UnsafeMutablePointer<rd_kafka_message_t>) -> [RecordHeader] {
    var list: OpaquePointer?
    guard rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list else { return [] }
    let count = rd_kafka_header_cnt(list)
    return (0..<count).compactMap { index in
      var name: UnsafePointer<CChar>?
      var value: UnsafeRawPointer?
      var size = 0
      guard rd_kafka_header_get_all(list, index, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR, let name
      else { return nil }
      return RecordHeader(
        name: String(cString: name), value: value.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: size)) })
    }
  }
}
