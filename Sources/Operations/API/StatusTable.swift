// A customer's subscriptions: status, end of the current period, and next renewal. Pure.

package import AppStore
package import AppStoreServerAPI

/// Formats the response of Get All Subscription Statuses.
package enum StatusTable {
  private static let columns = [
    TextColumn("STATUS"), TextColumn("PRODUCT"), TextColumn("EXPIRES"), TextColumn("THEN"), TextColumn("GROUP"),
    TextColumn("ORIGINAL TRANSACTION"),
  ]

  /// One row per subscription.
  package static func lines(_ groups: [SubscriptionGroup], lineWidth: Int?, usesColor: Bool) -> [String] {
    var rows: [[TextCell]] = []
    for group in groups {
      for subscription in group.subscriptions { rows.append(row(subscription, of: group)) }
    }
    return TextTable.lines(columns, rows: rows, lineWidth: lineWidth, usesColor: usesColor)
  }

  private static func row(_ subscription: SubscriptionState, of group: SubscriptionGroup) -> [TextCell] {
    let transaction = subscription.transaction?.payload
    let status = subscription.status?.cell ?? TextCell("")
    let product = TextCell(optional: transaction?.productId)
    let expires = TextCell(transaction?.expiresDate)
    let then = TextCell(optional: subscription.renewalInfo.map { next($0.payload, after: transaction) })
    let identifier = TextCell(optional: group.subscriptionGroupIdentifier, .dim)
    let original = TextCell(optional: subscription.originalTransactionId, .cyan)
    return [status, product, expires, then, identifier, original]
  }

  /// One JSON object per subscription, with the payloads of both tokens.
  package static func jsonLines(_ groups: [SubscriptionGroup], in environment: AppStoreEnvironment) -> [String] {
    var lines: [String] = []
    for group in groups {
      for subscription in group.subscriptions {
        var object: JSONObject = ["environment": environment.jsonValue]
        object["subscriptionGroupIdentifier"] = group.subscriptionGroupIdentifier?.jsonValue
        object["originalTransactionId"] = subscription.originalTransactionId?.jsonValue
        object["status"] = subscription.status?.jsonValue
        object["transaction"] = subscription.transaction?.payload.jsonValue
        object["renewalInfo"] = subscription.renewalInfo?.payload.jsonValue
        lines.append(String(decoding: object.serialized(), as: UTF8.self))
      }
    }
    return lines
  }

  /// Describes what happens at the end of the period.
  static func next(
    _ renewal: JWSRenewalInfoDecodedPayload, after transaction: JWSTransactionDecodedPayload?
  ) -> String {
    var parts: [String] = []
    if renewal.isInBillingRetryPeriod == true { parts.append("billing retry") }
    if let end = renewal.gracePeriodExpiresDate { parts.append("grace until \(RecordView.seconds(end))") }
    if let intent = renewal.expirationIntent { parts.append("ended: \(intent.words)") }
    if let status = renewal.autoRenewStatus, renewal.expirationIntent == nil {
      switch status {
      case .on:
        var text = "renews"
        if let product = renewal.autoRenewProductId, product != transaction?.productId { text += " to \(product)" }
        if let price = renewal.renewalPrice {
          text += " for " + HumanText.price(thousandths: price, currency: renewal.currency)
        }
        parts.append(text)
      case .off: parts.append("ends")
      default: parts.append("auto-renew status \(status)")
      }
    }
    if let status = renewal.priceIncreaseStatus { parts.append("price increase: \(status.words)") }
    return parts.joined(separator: ", ")
  }
}
