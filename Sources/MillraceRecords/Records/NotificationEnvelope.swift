// The content of a notification's headers, which a reader can use before it decodes the value. Missing or malformed
// headers are reported and are not fatal.

public import AppStore
public import KafkaClient

/// The parsed headers of a record.
public struct NotificationEnvelope: Sendable, Hashable {
  /// The version of App Store Server Notifications.
  public enum Version: String, Sendable, Hashable {
    /// A JSON body.
    case v1
    /// A JWS.
    case v2
    /// Not a notification but a signed transaction; see ``FoundRefundRecord``.
    case found
    /// Not a notification but a request to ask Apple about a purchase; see ``ImportRecord``.
    case request
  }

  /// A problem with a header.
  public enum Problem: Sendable, Hashable, CustomStringConvertible {
    /// A required header is missing or has no value.
    case missing(String)
    /// A header's value is not UTF-8 or not in the expected format.
    case malformed(String)

    /// The header's name and the problem.
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
  /// `ce_subject`: the notification's key.
  public var subject: String?
  /// `ce_time`: `signedDate`, or the time of receipt of a version 1 body.
  public var time: Timestamp?
  /// `ce_origin`.
  public var origin: NotificationOrigin?
  /// `ce_passwordplace`: the position of the secret in a version 1 body.
  public var passwordPlace: ResponseBodyV1.PasswordPlace?
  /// `content-type`.
  public var contentType: String?
  /// `traceparent`.
  public var traceParent: TraceParent?
  /// The problems with the headers; empty for a record that Millrace wrote.
  public var problems: [Problem]

  /// Parses a record's headers. If a header occurs twice, the last one counts, as in Kafka's own clients.
  public init(_ headers: [RecordHeader]) {
    var memory = EnvelopeMemory()
    self.init(headers, EnvelopeMemory.Layout(headers), &memory)
  }

  /// Parses the headers of a record.
  public init(_ record: ConsumerRecord) { self.init(record.headers) }

  /// Parses the headers of a record that follows others of its topic. It does not
  /// parse values again that are equal to those in the previous record.
  package init(_ headers: [RecordHeader], _ layout: EnvelopeMemory.Layout, _ memory: inout EnvelopeMemory) {
    var reader = HeaderReader(headers, layout)
    contentType = reader.parsed(.contentType, required: true) { memory.contentType.value($0, { String(utf8: $0) }) }
    if let specification = reader.bytes(.specversion, required: true), specification != HeaderText.version {
      reader.problems.append(.malformed(HeaderName.specversion.text))
    }
    id = reader.parsed(.id, required: true, { String(utf8: $0) })
    let type = reader.parsed(.type, required: true) { memory.type.value($0, HeaderText.type) }
    version = type?.version
    notificationType = type?.name
    let source = reader.parsed(.source, required: true) { memory.source.value($0, HeaderText.source) }
    environment = source?.environment
    bundleId = source?.bundleId
    subject = reader.parsed(.subject, required: true, { String(utf8: $0) })
    // Version 2 payloads of early 2022 have no date, so the header is optional.
    time = reader.parsed(.time, required: false) { String(utf8: $0).flatMap { Timestamp(rfc3339: $0) } }
    subtype = reader.parsed(.subtype, required: false) {
      memory.subtype.value($0) { String(utf8: $0).map { Subtype(rawValue: $0) } }
    }
    origin = reader.parsed(.origin, required: true) {
      memory.origin.value($0) { String(utf8: $0).flatMap { NotificationOrigin(rawValue: $0) } }
    }
    passwordPlace = reader.parsed(.passwordPlace, required: false) {
      String(utf8: $0).flatMap { ResponseBodyV1.PasswordPlace(headerText: $0) }
    }
    traceParent = reader.parsed(.traceParent, required: false) { TraceParent(utf8: $0) }
    problems = reader.problems
  }
}

/// A cache of the previous record's parsed headers. Within a topic most headers are equal.
package struct EnvelopeMemory: Sendable {
  struct Field<Value: Sendable>: Sendable {
    private var last: (bytes: [UInt8], value: Value?)?

    mutating func value(_ bytes: [UInt8], _ parse: ([UInt8]) -> Value?) -> Value? {
      if let last, last.bytes == bytes { return last.value }
      let value = parse(bytes)
      last = (bytes, value)
      return value
    }
  }

  /// The positions of the headers in records with the same header names in the same order.
  package struct Layout: Sendable {
    fileprivate var names: [String] = []
    // Indexed by the name's raw value, without an allocation.
    fileprivate var places = SIMD16<Int16>(repeating: -1)
    /// Whether any header belongs to a record's delivery history.
    package var hasHistory = false

    fileprivate init(_ headers: [RecordHeader] = []) {
      for index in headers.indices {
        if DeliveryHistory.isHistory(headers[index]) { hasHistory = true }
        guard let name = HeaderName(headers[index].name), let place = Int16(exactly: index) else { continue }
        places[name.rawValue] = place
      }
    }

    /// Returns whether headers have this layout. Names that share storage compare without a look at their bytes.
    fileprivate func fits(_ headers: [RecordHeader]) -> Bool {
      guard names.count == headers.count else { return false }
      for index in headers.indices where headers[index].name != names[index] { return false }
      return true
    }
  }

  package init() {}

  // Two layouts, because a topic has notifications with and without a subtype.
  private var last = Layout()
  private var other = Layout()

  /// Returns the layout of headers.
  package mutating func layout(of headers: [RecordHeader]) -> Layout {
    if last.fits(headers) { return last }
    swap(&last, &other)
    if last.fits(headers) { return last }
    last = Layout(headers)
    last.names = headers.map(\.name)
    return last
  }

  var contentType = Field<String>()
  var type = Field<(version: NotificationEnvelope.Version, name: String)>()
  var source = Field<(environment: AppStoreEnvironment, bundleId: String)>()
  var subtype = Field<Subtype>()
  var origin = Field<NotificationOrigin>()
}

/// The headers of a notification.
private enum HeaderName: Int {
  case contentType, specversion, id, type, source, subject, time, subtype, origin, passwordPlace, traceParent

  /// Switches on the length first, so that most names need a single comparison.
  init?(_ name: String) {
    switch (name.utf8.count, name) {
    case (5, "ce_id"): self = .id
    case (7, "ce_type"): self = .type
    case (7, "ce_time"): self = .time
    case (9, "ce_source"): self = .source
    case (9, "ce_origin"): self = .origin
    case (10, "ce_subject"): self = .subject
    case (10, "ce_subtype"): self = .subtype
    case (11, "traceparent"): self = .traceParent
    case (12, "content-type"): self = .contentType
    case (14, "ce_specversion"): self = .specversion
    case (16, "ce_passwordplace"): self = .passwordPlace
    default: return nil
    }
  }

  var text: String {
    switch self {
    case .contentType: "content-type"
    case .specversion: "ce_specversion"
    case .id: "ce_id"
    case .type: "ce_type"
    case .source: "ce_source"
    case .subject: "ce_subject"
    case .time: "ce_time"
    case .subtype: "ce_subtype"
    case .origin: "ce_origin"
    case .passwordPlace: "ce_passwordplace"
    case .traceParent: "traceparent"
    }
  }
}

/// Parsers of header values.
private enum HeaderText {
  static let version = Array("1.0".utf8)
  private static let typePrefixes: [(prefix: [UInt8], version: NotificationEnvelope.Version)] = [
    (Array(NotificationRecord.v2TypePrefix.utf8), .v2), (Array(NotificationRecord.v1TypePrefix.utf8), .v1),
    (Array(FoundRefundRecord.typePrefix.utf8), .found), (Array(ImportRecord.typePrefix.utf8), .request),
  ]

  static func type(_ bytes: [UInt8]) -> (version: NotificationEnvelope.Version, name: String)? {
    for (prefix, version) in typePrefixes where bytes.count > prefix.count && bytes.starts(with: prefix) {
      let name = bytes.withUnsafeBytes { String(utf8: UnsafeRawBufferPointer(rebasing: $0[prefix.count...])) }
      return name.map { (version, $0) }
    }
    return nil
  }

  static func source(_ bytes: [UInt8]) -> (environment: AppStoreEnvironment, bundleId: String)? {
    guard let text = String(utf8: bytes) else { return nil }
    let parts = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "appstore", !parts[1].isEmpty, !parts[2].isEmpty else { return nil }
    return (AppStoreEnvironment(rawValue: String(parts[1])), String(parts[2]))
  }
}

/// Finds headers by name and collects problems.
private struct HeaderReader {
  var problems: [NotificationEnvelope.Problem] = []
  private let headers: [RecordHeader]
  private let places: SIMD16<Int16>

  init(_ headers: [RecordHeader], _ layout: EnvelopeMemory.Layout) {
    self.headers = headers
    places = layout.places
  }

  mutating func bytes(_ name: HeaderName, required: Bool) -> [UInt8]? {
    let place = places[name.rawValue]
    guard place >= 0, let bytes = headers[Int(place)].value, !bytes.isEmpty else {
      if required { problems.append(.missing(name.text)) }
      return nil
    }
    return bytes
  }

  mutating func parsed<Value>(_ name: HeaderName, required: Bool, _ parse: ([UInt8]) -> Value?) -> Value? {
    guard let bytes = bytes(name, required: required) else { return nil }
    let value = parse(bytes)
    if value == nil { problems.append(.malformed(name.text)) }
    return value
  }
}
