// A filter reads a message in librdkafka's memory, so that unselected records are never copied.
internal import CRDKafka

/// Selects records by the values of headers.
public struct HeaderFilter: Sendable {
  private struct Header: Sendable {
    var name: String
    /// The NUL-terminated name.
    var nativeName: [CChar]
    var values: [[UInt8]]
  }

  private let headers: [Header]

  /// - Parameter values: The accepted values of each header. If a header occurs twice, the last one counts. Without
  ///   headers every record is selected.
  public init(_ values: [String: [[UInt8]]]) {
    headers = values.map { Header(name: $0.key, nativeName: Array($0.key.utf8CString), values: $0.value) }
  }

  /// Returns whether a record with these headers is selected.
  public func matches(_ headers: [RecordHeader]) -> Bool {
    self.headers.allSatisfy { wanted in
      guard let value = headers.last(where: { $0.name == wanted.name })?.value else { return false }
      return wanted.values.contains(value)
    }
  }

  /// Returns whether a message of librdkafka is selected.
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
