internal import CRDKafka

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

extension [RecordHeader] {
  /// Returns librdkafka's header list; nil if there are no headers. The caller owns it until a produce call succeeds.
  func makeNative() -> OpaquePointer? {
    guard !isEmpty, let list = rd_kafka_headers_new(count) else { return nil }
    for header in self {
      var name = header.name
      name.withUTF8 { name in
        name.withMemoryRebound(to: CChar.self) { name in
          // An empty Swift array may have no address, and librdkafka takes a null pointer for "no value".
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
  /// Copies a message of librdkafka. Invalid UTF-8 in header names is repaired; values are bytes.
  /// - Parameters:
  ///   - topic: The topic's name, whose storage many records share.
  ///   - previous: The headers of the previous record. Equal headers share their storage.
  init(
    _ message: UnsafeMutablePointer<rd_kafka_message_t>, of topic: String, after previous: [RecordHeader] = []
  ) {
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
      headers: Self.headers(of: message, after: previous))
  }

  private static func bytes(_ start: UnsafeMutableRawPointer?, _ count: Int) -> [UInt8]? {
    start.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: count)) }
  }

  private static func headers(
    of message: UnsafeMutablePointer<rd_kafka_message_t>, after previous: [RecordHeader]
  ) -> [RecordHeader] {
    var list: OpaquePointer?
    guard rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list else { return [] }
    let count = rd_kafka_header_cnt(list)
    var headers: [RecordHeader] = []
    headers.reserveCapacity(count)
    for index in 0..<count {
      var name: UnsafePointer<CChar>?
      var value: UnsafeRawPointer?
      var size = 0
      guard rd_kafka_header_get_all(list, index, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR, let name
      else { continue }
      let bytes = value.map { UnsafeRawBufferPointer(start: $0, count: size) }
      let likely = index < previous.count ? previous[index] : nil
      if let likely, likely.hasName(name) {
        headers.append(
          likely.hasValue(bytes) ? likely : RecordHeader(name: likely.name, value: bytes.map { [UInt8]($0) }))
      } else {
        headers.append(RecordHeader(name: String(cString: name), value: bytes.map { [UInt8]($0) }))
      }
    }
    return headers
  }
}

extension RecordHeader {
  fileprivate func hasName(_ text: UnsafePointer<CChar>) -> Bool {
    var end = text
    for byte in name.utf8 {
      guard UInt8(bitPattern: end.pointee) == byte else { return false }
      end += 1
    }
    return end.pointee == 0
  }

  fileprivate func hasValue(_ bytes: UnsafeRawBufferPointer?) -> Bool {
    guard let bytes, let value else { return bytes == nil && value == nil }
    return value.withUnsafeBytes { own in
      guard own.count == bytes.count, let left = own.baseAddress, let right = bytes.baseAddress else {
        return own.isEmpty && bytes.isEmpty
      }
      return memcmp(left, right, own.count) == 0
    }
  }
}
