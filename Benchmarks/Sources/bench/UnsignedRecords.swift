// Records that look like notifications if only their headers are read.
import KafkaClient

/// Makes records of two types, one with a subtype and one without. Ids and keys differ, and the values are unsigned.
struct UnsignedRecords {
  private let template: ProducerRecord
  private let lanes: Int
  private var made = 0

  /// - Parameter template: The record to copy.
  init(_ template: ProducerRecord, topic: String, lanes: Int) {
    var template = template
    template.topic = topic
    self.template = template
    self.lanes = lanes
  }

  mutating func next(_ count: Int, bytes: Int) -> [ProducerRecord] {
    let value = Array((template.value ?? []).prefix(bytes))
    let filled = value + [UInt8](repeating: UInt8(ascii: "x"), count: max(0, bytes - value.count))
    return (0..<count).map { index in
      made += 1
      let id = "00000000-0000-4000-8000-" + Self.digits(made)
      let key = "2" + Self.digits(made)
      var record = template
      record.partition = Int32(index % lanes)
      record.key = Array(key.utf8)
      record.value = filled
      record.headers = record.headers.map { header in
        switch header.name {
        case "ce_id": RecordHeader("ce_id", id)
        case "ce_subject": RecordHeader("ce_subject", key)
        case "ce_type" where made % 3 == 0: RecordHeader("ce_type", "com.apple.appstore.notification.v2.EXPIRED")
        default: header
        }
      }
      if made % 3 == 0 { record.headers.append(RecordHeader("ce_subtype", "VOLUNTARY")) }
      return record
    }
  }

  private static func digits(_ number: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: 12 - text.count) + text
  }
}
