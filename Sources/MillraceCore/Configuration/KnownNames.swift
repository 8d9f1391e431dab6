// The names that configuration and command line can check before anything is connected.

internal import AppStore

/// The closed sets of names of this version.
package enum KnownNames {
  /// The notification families with a topic in the files of this version. A deployment with topic files of its own may
  /// have more.
  package static let families = [
    "advanced-commerce", "consent", "consumption-requests", "external-purchases", "purchases", "refunds",
    "renewal-extensions", "subscriptions", "tests", "unrecognized",
  ]

  /// The notification types of both versions, as Apple spells them.
  package static let notificationTypes = Set(
    NotificationTypeV2.allKnown.map(\.rawValue) + NotificationTypeV1.allKnown.map(\.rawValue)
  ).sorted()

  /// The subtypes, as Apple spells them.
  package static let subtypes = Subtype.allKnown.map(\.rawValue).filter { !$0.isEmpty }.sorted()

  /// The names of the events that each shipped worker publishes. Every worker also publishes ``erasure``.
  package static let events: [String: [String]] = [
    "consumption": names("consumption", ["at-risk", "expired", "outcome", "refused", "sent", "withheld"]),
    "decoder": [],
    "refunds": names("entitlement", ["reinstated", "revoked"]) + names("refund", ["declined", "unconfirmed"]),
    "renewal-extensions": names("campaign", ["completed", "differs"])
      + names("extension", ["applied", "refused", "unclear", "withheld"]),
    "subscriptions": names("purchase", ["completed", "revoked", "reinstated"])
      + names(
        "subscription",
        [
          "started", "renewed", "resubscribed", "recovered", "upgraded", "expired", "revoked", "reinstated", "extended",
          "corrected", "product-change-scheduled", "product-change-cancelled", "renewal-disabled", "renewal-enabled",
          "commitment-renewal-disabled", "commitment-renewal-enabled", "grace-period-entered",
          "billing-retry-entered", "offer-redeemed", "price-increase-pending", "price-increase-accepted",
        ]),
  ]

  /// The event of an erasure.
  package static let erasure = "customer.erased"

  private static func names(_ prefix: String, _ events: [String]) -> [String] { events.map { "\(prefix).\($0)" } }
}

extension NearestName {
  /// Returns what to do about an unknown name: the nearest name, or the choice.
  package static func remedy(for name: String, among names: [String]) -> String {
    if let nearest = of(name, among: names) { return "did you mean \(nearest)?" }
    return names.isEmpty ? "remove it" : "choose one of \(names.joined(separator: ", "))"
  }
}

extension SettingCodec where Value == String {
  /// A notification type, as Apple spells it.
  package static let notificationType = Self(
    kind: "text",
    parse: { value throws(SettingFault) in
      guard case .scalar(let text) = value.content else { throw SettingFault("a notification type") }
      guard KnownNames.notificationTypes.contains(text) else {
        let nearest = NearestName.of(text, among: KnownNames.notificationTypes)
        throw SettingFault(
          nearest.map { "\($0), the nearest type of Apple's" } ?? "a type that Apple documents, such as REFUND",
          found: text)
      }
      return text
    }, render: { .scalar($0) })

  /// The `host:port` of brokers, comma-separated, or `embedded`.
  static let servers = Self(
    kind: "text",
    parse: { value throws(SettingFault) in
      let expected = "the brokers' host:port, comma-separated, without a scheme and with ports from 1 to 65535"
      guard case .scalar(let text) = value.content else { throw SettingFault(expected) }
      let servers = text.split(separator: ",", omittingEmptySubsequences: false).map { server in
        var server = server.drop(while: \.isWhitespace)
        while server.last?.isWhitespace == true { server.removeLast() }
        return String(server)
      }
      guard servers.allSatisfy(isServer) else {
        // What is before an `@` may be a password.
        throw SettingFault(expected, found: text.contains("@") ? nil : text)
      }
      return servers.joined(separator: ",")
    }, render: { .scalar($0) })

  private static func isServer(_ text: String) -> Bool {
    guard !text.isEmpty, !text.contains(where: { $0 == "/" || $0 == "@" || $0.isWhitespace }) else { return false }
    // An IPv6 address: in brackets with a port, or alone.
    let rest: Substring
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return false }
      rest = text[text.index(after: end)...]
    } else {
      guard text.filter({ $0 == ":" }).count < 2 else { return true }
      rest = text.firstIndex(of: ":").map { text[$0...] } ?? ""
      guard rest.count < text.count else { return false }
    }
    guard !rest.isEmpty else { return true }
    return rest.hasPrefix(":") && UInt16(rest.dropFirst()).map { $0 > 0 } == true
  }
}

extension MillraceConfiguration {
  /// Returns the problem of a family's name; nil if it may exist. A directory of topic files may declare other families,
  /// which are checked when the files are read.
  package func objection(toFamily name: String) -> (what: String, remedy: String)? {
    guard topics.directory == nil, !KnownNames.families.contains(name) else { return nil }
    return ("there is no family `\(name)`", NearestName.remedy(for: name, among: KnownNames.families))
  }
}
