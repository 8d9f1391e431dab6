// What is not wanted is never copied: a filter looks at a message where librdkafka has it.
internal import CRDKafka

/// Chooses records by the values of headers.
public struct HeaderFilter: Sendable {
  private struct Header: Sendable {
    var name: String
    /// The same, ended by a NUL.
    var nativeName: [CChar]
    var values: [[UInt8]]
  }

  private let headers: [Header]

  /// - Parameter values: For each header the values of which it has one. Of a header that occurs twice the last one
  ///   counts. No header: every record is chosen.
  public init(_ values: [String: [[UInt8]]]) {
    headers = values.map { Header(name: $0.key, nativeName: Array($0.key.utf8CString), values: $0.value) }
  }

  /// Whether these are headers of a record that is chosen.
  public func matches(_ headers: [RecordHeader]) -> Bool {
    self.headers.allSatisfy { wanted in
      guard let value = headers.last(where: { $0.name == wanted.name })?.value else { return false }
      return wanted.values.contains(value)
    }
  }

  /// Looks at a message of librdkafka.
  func matches(_ message: UnsafeMutablePointer<rd_kafka_message_t>) -> Bool {
    var list: OpaquePointer?
    guard rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list else {
      return headers.isEmpty
    }
    return headers.allSatisfy { wanted in
      var value: UnsafeRawPointer?
      var size = 0
      guard rd_kafka_header_get_last(list, wanted.nativeName, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR, let value
      else { return false }
      return wanted.values.contains { $0.elementsEqual(UnsafeRawBufferPointer(start: value, count: size)) }
    }
  }
}
