// The operations of the App Store Server API that an endpoint can order, and their arguments. The list is closed:
// docs/http-workers/outcome.schema.json has the same names and rules.

internal import AppStore
internal import AppStoreServerAPI

/// An operation, by the name that Apple's documentation and libraries use.
package enum AppleOperation: String, Sendable, Hashable, CaseIterable {
  case getTransactionInfo
  case getTransactionHistory
  case getAllSubscriptionStatuses
  case getRefundHistory
  case getAppTransactionInfo
  case extendSubscriptionRenewalDate
  case sendConsumptionInformation
  case setAppAccountToken
  case lookUpOrderId

  /// The endpoint, whose rate limit applies.
  var endpoint: APIEndpoint {
    switch self {
    case .getTransactionInfo: .getTransactionInfo
    case .getTransactionHistory: .getTransactionHistory
    case .getAllSubscriptionStatuses: .getAllSubscriptionStatuses
    case .getRefundHistory: .getRefundHistory
    case .getAppTransactionInfo: .getAppTransactionInfo
    case .extendSubscriptionRenewalDate: .extendSubscriptionRenewalDate
    case .sendConsumptionInformation: .sendConsumptionInformation
    case .setAppAccountToken: .setAppAccountToken
    case .lookUpOrderId: .lookUpOrderId
    }
  }

  /// Returns the arguments if they fit the operation. A whole number such as `7.0` becomes `7`.
  func check(_ arguments: JSONCursor) throws(OutcomeFault) -> JSONObject {
    let rules = self.arguments
    let members = try arguments.object(allowing: Set(rules.map(\.name)))
    var checked = members.object
    for rule in rules {
      if let value = members[rule.name] {
        checked[rule.name] = try rule.kind.checked(value)
      } else if rule.isRequired {
        throw arguments.fault("`\(rule.name)` is missing")
      }
    }
    return checked
  }

  private var arguments: [ArgumentRule] {
    switch self {
    case .getTransactionInfo, .getAppTransactionInfo: [.transactionId, .environment]
    case .getTransactionHistory:
      [
        .transactionId, .environment, .optional("revision", .text(1...10_000)), .optional("startDate", .time),
        .optional("endDate", .time), .optional("productId", .list(.text(1...10_000))),
        .optional(
          "productType", .list(.oneOf(["AUTO_RENEWABLE", "NON_RENEWABLE", "CONSUMABLE", "NON_CONSUMABLE"]))),
        .optional("sort", .oneOf(["ASCENDING", "DESCENDING"])),
        .optional("subscriptionGroupIdentifier", .list(.text(1...10_000))),
        .optional("inAppOwnershipType", .oneOf(["FAMILY_SHARED", "PURCHASED"])), .optional("revoked", .boolean),
      ]
    case .getAllSubscriptionStatuses:
      [.transactionId, .environment, .optional("status", .list(.oneOf([1, 2, 3, 4, 5])))]
    case .getRefundHistory: [.transactionId, .environment, .optional("revision", .text(1...10_000))]
    case .extendSubscriptionRenewalDate:
      [
        .originalTransactionId, .environment, .required("extendByDays", .integer(1...90)),
        .required("extendReasonCode", .oneOf([0, 1, 2, 3])), .required("requestIdentifier", .text(1...128)),
      ]
    case .sendConsumptionInformation:
      [
        .transactionId, .environment, .required("customerConsented", .oneOf([true])),
        .required("sampleContentProvided", .boolean),
        .required(
          "deliveryStatus",
          .oneOf([
            "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
            "UNDELIVERED_OTHER",
          ])),
        .optional("consumptionPercentage", .integer(0...100_000)),
        .optional("refundPreference", .oneOf(["DECLINE", "GRANT_FULL", "GRANT_PRORATED"])),
      ]
    case .setAppAccountToken: [.originalTransactionId, .environment, .required("appAccountToken", .uuid)]
    case .lookUpOrderId: [.required("orderId", .pathSegment)]
    }
  }
}

/// A rule about one argument.
private struct ArgumentRule: Sendable {
  var name: String
  var isRequired: Bool
  var kind: Kind

  indirect enum Kind: Sendable {
    case digits
    case text(ClosedRange<Int>)
    case pathSegment
    case uuid
    case integer(ClosedRange<Int64>)
    case time
    case boolean
    case oneOf([JSON])
    case list(Kind)
  }

  static func required(_ name: String, _ kind: Kind) -> ArgumentRule { .init(name: name, isRequired: true, kind: kind) }
  static func optional(_ name: String, _ kind: Kind) -> ArgumentRule {
    .init(name: name, isRequired: false, kind: kind)
  }

  static let transactionId = required("transactionId", .digits)
  static let originalTransactionId = required("originalTransactionId", .digits)
  static let environment = optional("environment", .oneOf(["Production", "Sandbox"]))
}

extension ArgumentRule.Kind {
  /// Returns the value if it fits.
  func checked(_ cursor: JSONCursor) throws(OutcomeFault) -> JSON {
    switch self {
    case .digits:
      _ = try cursor.text(1...64, "a number in a string") { $0.utf8.allSatisfy { (48...57).contains($0) } }
    case .text(let lengths): _ = try cursor.text(lengths)
    case .pathSegment:
      _ = try cursor.text(1...128, "an identifier") { text in
        text.utf8.allSatisfy { $0 > 0x1F && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }
      }
    case .uuid: _ = try cursor.text(36...36, "a UUID", where: Self.isUUID)
    case .integer(let range): return .integer(try cursor.integer(range))
    case .time: return .integer(try cursor.integer(0...Self.latest))
    case .boolean:
      guard case .bool = cursor.value else { throw cursor.fault("true or false is expected") }
    case .oneOf(let values):
      let value = cursor.wholeNumber.map { .integer($0) } ?? cursor.value
      guard values.contains(value) else {
        let names = values.map { String(decoding: $0.serialized(), as: UTF8.self) }
        throw cursor.fault("not \(names.count == 1 ? "" : "one of ")\(names.joined(separator: ", "))")
      }
      return value
    case .list(let kind):
      var elements: [JSON] = []
      for element in try cursor.elements(atMost: 1_000) { elements.append(try kind.checked(element)) }
      return .array(elements)
    }
    return cursor.value
  }

  /// The end of the year 9999, in milliseconds since 1970.
  private static let latest: Int64 = 253_402_300_799_999

  private static func isUUID(_ text: String) -> Bool {
    let groups = text.split(separator: "-", omittingEmptySubsequences: false)
    return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
      && groups.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
  }
}
