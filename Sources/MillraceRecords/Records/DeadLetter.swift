// The headers that a dead letter carries beside the record's own.

package import AppStore
package import KafkaClient

/// The reason why a record became a dead letter, and the action that an operator can take.
package struct DeadLetter: Sendable, Hashable {
  /// The stable reason code: lower case with hyphens.
  package var reason: String
  /// A description of the problem.
  package var detail: String
  /// The action to take.
  package var remedy: String
  /// The time when the record became a dead letter.
  package var at: Timestamp

  /// The header that contains ``reason``.
  static let reasonHeader = "millrace-reason"

  private enum Name {
    static let detail = "millrace-detail"
    static let remedy = "millrace-remedy"
    static let at = "millrace-died-at"
  }

  /// Creates a dead letter's description.
  package init(reason: String, detail: String, remedy: String, at: Timestamp) {
    self.reason = reason
    self.detail = detail
    self.remedy = remedy
    self.at = at
  }

  /// Reads the headers of a dead letter. Nil if the record is not a dead letter.
  package init?(_ headers: [RecordHeader]) {
    func text(_ name: String) -> String? {
      headers.last { $0.name == name }?.value.flatMap { String(validating: $0, as: UTF8.self) }
    }
    guard let reason = text(Self.reasonHeader) else { return nil }
    self.init(
      reason: reason, detail: text(Name.detail) ?? "", remedy: text(Name.remedy) ?? "",
      at: Timestamp(millisecondsSince1970: text(Name.at).flatMap { Int64($0) } ?? 0))
  }

  /// Returns the time when a record became a dead letter, without reading other headers. Nil if it is not a dead
  /// letter.
  package static func diedAt(_ headers: [RecordHeader]) -> Timestamp? {
    headers.last { $0.name == Name.at }?.value.flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
      .map { Timestamp(millisecondsSince1970: $0) }
  }

  /// The headers that contain this description.
  package var headers: [RecordHeader] {
    [
      RecordHeader(Self.reasonHeader, reason), RecordHeader(Name.detail, String(detail.prefix(1_000))),
      RecordHeader(Name.remedy, remedy), RecordHeader(Name.at, String(at.millisecondsSince1970)),
    ]
  }
}
