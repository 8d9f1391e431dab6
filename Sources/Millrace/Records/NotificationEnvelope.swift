// What a reader learns from a notification's headers before it decodes anything. Headers are data: missing, doubled or
// garbled ones are reported, not fatal.

public import AppStore
public import Kafka

/// The headers of a record, read back.
public struct NotificationEnvelope: Sendable, Hashable {
  /// The version of App Store Server Notifications.
  public enum Version: String, Sendable, Hashable {
    /// A JSON body.
    case v1
    /// A JWS.
    case v2
    /// No notification: a signed transaction, see ``FoundRefundRecord``.
    case found
  }

  /// One header that is not as it should be.
  public enum Problem: Sendable, Hashable, CustomStringConvertible {
    /// A header that every notification has is not there, or has no value.
    case missing(String)
    /// A header's value is not UTF-8, or not of its form.
    case malformed(String)

    /// The header and what is wrong with it.
    public var description: String {
      switch self {
      case .missing(let name): "\(name) is missing"
      case .malformed(let name): "\(name) is malformed"
      }
    }
  }

  /// `ce_id`: `notificationUUID`, or the digest of a version 1 body.
  public var id: String?
  /// From `ce_type`.
  public var version: Version?
  /// From `ce_type`: the notification type as Apple wrote it.
  public var notificationType: String?
  /// `ce_subtype`.
  public var subtype: Subtype?
  /// From `ce_source`.
  public var environment: AppStoreEnvironment?
  /// From `ce_source`.
  public var bundleId: String?
  /// `ce_subject`: what orders the notification.
  public var subject: String?
  /// `ce_time`: `signedDate`, or when a version 1 body was received.
  public var time: Timestamp?
  /// `ce_origin`.
  public var origin: NotificationOrigin?
  /// `ce_passwordplace`: where the secret of a version 1 body stood.
  public var passwordPlace: ResponseBodyV1.PasswordPlace?
  /// `content-type`.
  public var contentType: String?
  /// `traceparent`.
  public var traceParent: TraceParent?
  /// What was wrong with the headers; empty for a record that Millrace wrote.
  public var problems: [Problem]

  /// Reads a record's headers. Of a header that occurs twice the last one counts, as in Kafka's own clients.
  public init(_ headers: [RecordHeader]) {
    var reader = HeaderReader(headers)
    contentType = reader.text("content-type", required: true)
    if let specification = reader.text("ce_specversion", required: true), specification != "1.0" {
      reader.problems.append(.malformed("ce_specversion"))
    }
    id = reader.text("ce_id", required: true)
    let type = reader.parsed("ce_type", required: true, Self.splitType)
    version = type?.version
    notificationType = type?.name
    let source = reader.parsed("ce_source", required: true, Self.splitSource)
    environment = source?.environment
    bundleId = source?.bundleId
    subject = reader.text("ce_subject", required: true)
    // Version 2 payloads of early 2022 have no date, so its absence is no fault.
    time = reader.parsed("ce_time", required: false) { Timestamp(rfc3339: $0) }
    subtype = reader.text("ce_subtype", required: false).map { Subtype(rawValue: $0) }
    origin = reader.parsed("ce_origin", required: true) { NotificationOrigin(rawValue: $0) }
    passwordPlace = reader.parsed("ce_passwordplace", required: false) {
      ResponseBodyV1.PasswordPlace(headerText: $0)
    }
    traceParent = reader.parsed("traceparent", required: false) { TraceParent($0) }
    problems = reader.problems
  }

  /// Reads the headers of a record.
  public init(_ record: ConsumerRecord) { self.init(record.headers) }

  private static func splitType(_ text: String) -> (version: Version, name: String)? {
    for (prefix, version) in [
      (NotificationRecord.v2TypePrefix, Version.v2), (NotificationRecord.v1TypePrefix, .v1),
      (FoundRefundRecord.typePrefix, .found),
    ] {
      if text.hasPrefix(prefix), text.utf8.count > prefix.utf8.count {
        return (version, String(text.dropFirst(prefix.count)))
      }
    }
    return nil
  }

  private static func splitSource(_ text: String) -> (environment: AppStoreEnvironment, bundleId: String)? {
    let parts = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "appstore", !parts[1].isEmpty, !parts[2].isEmpty else { return nil }
    return (AppStoreEnvironment(rawValue: String(parts[1])), String(parts[2]))
  }
}

/// Reads headers by name and notes what is wrong.
private struct HeaderReader {
  var problems: [NotificationEnvelope.Problem] = []
  private let headers: [RecordHeader]

  init(_ headers: [RecordHeader]) { self.headers = headers }

  mutating func text(_ name: String, required: Bool) -> String? {
    guard let bytes = headers.last(where: { $0.name == name })?.value, !bytes.isEmpty else {
      if required { problems.append(.missing(name)) }
      return nil
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      problems.append(.malformed(name))
      return nil
    }
    return text
  }

  mutating func parsed<Value>(_ name: String, required: Bool, _ parse: (String) -> Value?) -> Value? {
    guard let text = text(name, required: required) else { return nil }
    let value = parse(text)
    if value == nil { problems.append(.malformed(name)) }
    return value
  }
}
