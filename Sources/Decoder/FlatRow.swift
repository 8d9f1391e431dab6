// Apple's objects in a row without nested values, for tables.

internal import AppStore

/// How a field appears in a row.
enum FlatKind: String {
  case text
  case integer
  case number
  case boolean
  /// A time of Apple's (milliseconds since 1970), as RFC 3339 in UTC.
  case time
  /// An object or array, as JSON text.
  case json

  init(_ name: String, _ kind: JSONKind) {
    switch kind {
    case .integer: self = name.hasSuffix("Date") ? .time : .integer
    case .number: self = .number
    case .boolean: self = .boolean
    case .string, .null: self = .text
    case .array, .object: self = .json
    }
  }
}

/// The columns of a decoded topic.
struct FlatColumns: Sendable {
  /// A column.
  struct Column: Sendable {
    var name: String
    var kind: FlatKind
    /// The content of a column that Millrace adds; nil for a field of Apple's.
    var description: String?
    var isRequired = false
  }

  /// In the order of the schema.
  let columns: [Column]
  /// The kind that Apple documents for each of its fields.
  let documented: [String: FlatKind]
  /// Fields that a row does not contain: objects whose members are columns, and signed tokens.
  let hidden: Set<String>

  private init(_ own: [Column], _ fields: [(String, JSONKind)], hidden: Set<String>) {
    var (columns, documented) = (own, [String: FlatKind]())
    for (name, kind) in fields where !hidden.contains(name) {
      let kind = FlatKind(name, kind)
      documented[name] = kind
      if !columns.contains(where: { $0.name == name }) { columns.append(Column(name: name, kind: kind)) }
    }
    columns.append(
      Column(
        name: FlatRow.others, kind: .json,
        description: "Fields that Apple has added and this version does not know, as the JSON text of one object."))
    (self.columns, self.documented, self.hidden) = (columns, documented, hidden)
  }

  private static func fields<Object: AppStoreObject>(_ type: Object.Type) -> [(String, JSONKind)] {
    Object.documentedFields.map { ($0.name, $0.kind) }
  }

  /// The columns of `appstore.decoded.notifications`.
  static let notification = FlatColumns(
    [
      Column(
        name: "notificationUUID", kind: .text,
        description: "The notification: Apple's `notificationUUID`, or the SHA-256 of a version 1 body.",
        isRequired: true),
      Column(
        name: "verified", kind: .boolean,
        description: "Whether Apple signed the notification. Version 1 notifications are not signed.", isRequired: true),
      Column(
        name: "receivedAt", kind: .time, description: "When Millrace received the notification.", isRequired: true),
      Column(
        name: "originalTransactionId", kind: .text,
        description: "The purchase that the notification is about, if it is about one."),
      Column(name: "transactionId", kind: .text, description: "The transaction inside the notification."),
      Column(name: "productId", kind: .text, description: "The product of that transaction, renewal or summary."),
      Column(name: "appAccountToken", kind: .text, description: "Your own id of the customer, if your app sets one."),
    ],
    fields(ResponseBodyV2DecodedPayload.self) + fields(NotificationData.self) + fields(NotificationSummary.self)
      + fields(ExternalPurchaseToken.self) + fields(AppData.self),
    hidden: [
      "data", "summary", "externalPurchaseToken", "appData", "signedTransactionInfo", "signedRenewalInfo",
      "signedAppTransactionInfo",
    ])

  /// The columns of `appstore.decoded.transactions`.
  static let token = FlatColumns(
    [
      Column(
        name: "kind", kind: .text, description: "The token: `transaction`, `renewal-info` or `app-transaction`.",
        isRequired: true),
      Column(
        name: "notificationUUID", kind: .text,
        description: "The notification that contained the token. Absent for a transaction of the refund history."),
      Column(name: "notificationType", kind: .text, description: "The type of that notification."),
      Column(name: "subtype", kind: .text, description: "The subtype of that notification."),
      Column(
        name: "verified", kind: .boolean, description: "Whether Apple signed it. Always true so far.",
        isRequired: true),
      Column(
        name: "receivedAt", kind: .time, description: "When Millrace received or found the token.", isRequired: true),
    ],
    fields(JWSTransactionDecodedPayload.self) + fields(JWSRenewalInfoDecodedPayload.self) + fields(AppTransaction.self),
    hidden: [])
}

/// A row under construction. The first value of a name wins.
struct FlatRow {
  /// The column of the fields that this version does not know.
  static let others = "otherFields"

  private var members: [JSONObject.Member] = []
  private var names: Set<String> = []
  private var unknown = JSONObject()

  /// The row.
  var json: JSONObject {
    var members = members
    if !unknown.members.isEmpty {
      members.append(.init(key: Self.others, value: .string(String(decoding: unknown.serialized(), as: UTF8.self))))
    }
    return JSONObject(members)
  }

  mutating func add(_ name: String, _ value: JSON?) {
    if let value, names.insert(name).inserted { members.append(.init(key: name, value: value)) }
  }
  mutating func add(_ name: String, _ value: String?) { add(name, value.map { JSON.string($0) }) }
  mutating func add(_ name: String, _ value: Bool) { add(name, JSON.bool(value)) }
  mutating func add(_ name: String, _ value: Timestamp) { add(name, value.rfc3339) }

  /// Adds the members of one of Apple's objects. A documented field of another type is left out, and so is every signed
  /// token: a decoded record proves nothing, and must not contain what does.
  mutating func add<Object: AppStoreObject>(_ object: Object?, _ columns: FlatColumns) {
    for member in object?.json.members ?? [] where !columns.hidden.contains(member.key) {
      guard let kind = columns.documented[member.key] else {
        if let value = member.value.withoutTokens, value != .null { unknown[member.key] = value }
        continue
      }
      add(member.key, kind.value(of: member.value))
    }
  }
}

extension FlatKind {
  /// Returns a value in this form; nil if it is of another type or contains only tokens.
  fileprivate func value(of json: JSON) -> JSON? {
    switch (self, json) {
    case (.time, .integer(let milliseconds)): .string(Timestamp(millisecondsSince1970: milliseconds).rfc3339)
    case (.integer, .integer), (.number, .integer), (.number, .number), (.boolean, .bool): json
    case (.text, .string): json.withoutTokens
    case (.json, .array), (.json, .object):
      json.withoutTokens.map { .string(String(decoding: $0.serialized(), as: UTF8.self)) }
    default: nil
    }
  }
}

extension JSON {
  /// The value without the signed tokens in it; nil if it is one.
  fileprivate var withoutTokens: JSON? {
    switch self {
    case .string(let text): text.isSignedToken ? nil : self
    case .array(let elements): .array(elements.compactMap(\.withoutTokens))
    case .object(let object):
      .object(
        JSONObject(
          object.members.compactMap { member in
            member.value.withoutTokens.map { JSONObject.Member(key: member.key, value: $0) }
          }))
    case .null, .bool, .integer, .number: self
    }
  }
}

extension String {
  /// Whether this looks like a JWS in compact form: three parts in base64url, and the first begins like a JSON object.
  fileprivate var isSignedToken: Bool {
    guard hasPrefix("ey") else { return false }
    let parts = utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return parts.count == 3 && parts.allSatisfy { Base64.decodeURL(Array($0)) != nil }
  }
}
