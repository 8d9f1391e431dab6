// Each table: the topic it is filled from, its key and its columns. A field of a record becomes the column with its name in
// lower case with underscores. `Migration` creates the columns from these definitions.

package import MillraceCore

/// A table that is filled from one topic, or from the event topics of all workers.
package struct TableDefinition: Sendable {
  /// A column that contains a field of the records.
  package struct Column: Sendable, Hashable {
    /// The field.
    package var field: String
    /// The kind of value.
    package var kind: ColumnKind
    /// The version of the migration that adds the column.
    package var version = 1
    /// Whether every row has a value.
    package var isRequired = false

    static func text(_ field: String) -> Column { Column(field: field, kind: .text) }
    static func integer(_ field: String) -> Column { Column(field: field, kind: .integer) }
    static func boolean(_ field: String) -> Column { Column(field: field, kind: .boolean) }
    static func time(_ field: String) -> Column { Column(field: field, kind: .time) }
    static func json(_ field: String) -> Column { Column(field: field, kind: .json) }
    static func jsonText(_ field: String) -> Column { Column(field: field, kind: .jsonText) }

    /// The column as it is added by a later migration than the table.
    func since(_ version: Int) -> Column { Column(field: field, kind: kind, version: version) }

    /// The name of the column: `original_transaction_id` for `originalTransactionId`.
    package var name: String {
      var name = ""
      var mayBreak = false
      for character in field {
        if character.isUppercase, mayBreak { name.append("_") }
        mayBreak = !character.isUppercase
        name += character.lowercased()
      }
      return name
    }
  }

  /// The kinds of values.
  package enum ColumnKind: Sendable, Hashable {
    case text
    case integer
    case boolean
    /// A time in RFC 3339.
    case time
    /// An object or array.
    case json
    /// A text that contains JSON.
    case jsonText

    /// The type in PostgreSQL.
    package var type: String {
      switch self {
      case .text: "text"
      case .integer: "bigint"
      case .boolean: "boolean"
      case .time: "timestamptz"
      case .json, .jsonText: "jsonb"
      }
    }
  }

  /// The table's name.
  package var table: PostgresSettings.Table
  /// The topic, without the deployment's prefix; nil for the event topics.
  package var topic: String?
  /// The field that identifies a row, if the topic is compacted; nil if every record is a row.
  package var key: Column?
  /// The columns, in order.
  package var columns: [Column]

  /// The definition of a table.
  package static func of(_ table: PostgresSettings.Table) -> TableDefinition {
    switch table {
    case .subscriptions: subscriptions
    case .purchases: purchases
    case .entitlements: entitlements
    case .events: events
    case .notifications: notifications
    case .transactions: transactions
    }
  }

  /// The table of events is not made of fields: `RowEncoder` fills these columns.
  private static let events = TableDefinition(
    table: .events, topic: nil, key: nil,
    columns: [
      Column(field: "id", kind: .text, isRequired: true),
      Column(field: "type", kind: .text, isRequired: true),
      Column(field: "worker", kind: .text, isRequired: true),
      .text("key"),
      .time("time"),
      .text("notificationId"),
      .text("supersedes"),
      .json("data"),
    ])

  private static let subscriptions = TableDefinition(
    table: .subscriptions, topic: "appstore.subscriptions", key: .text("originalTransactionId"),
    columns: [
      .text("originalTransactionId"),
      .text("bundleId"),
      .text("environment"),
      .text("status"),
      .text("uncertain").since(2),
      .time("entitledUntil"),
      .text("productId"),
      .text("subscriptionGroupIdentifier"),
      .time("expiresDate"),
      .time("gracePeriodExpiresDate"),
      .boolean("autoRenews"),
      .text("autoRenewProductId"),
      .integer("renewalPrice"),
      .text("renewalCurrency"),
      .json("renewalOffer"),
      .text("priceIncrease"),
      .json("commitment").since(3),
      .integer("expirationIntent"),
      .text("transactionId"),
      .time("purchaseDate"),
      .time("originalPurchaseDate"),
      .integer("price"),
      .text("currency"),
      .json("offer"),
      .text("ownership"),
      .text("appAccountToken"),
      .text("appTransactionId"),
      .time("revocationDate"),
      .integer("revocationReason"),
      .time("signedDate"),
      .json("cause"),
    ])

  private static let purchases = TableDefinition(
    table: .purchases, topic: "appstore.purchases", key: .text("transactionId"),
    columns: [
      .text("originalTransactionId"),
      .text("bundleId"),
      .text("environment"),
      .boolean("owned"),
      .text("productId"),
      .text("productType"),
      .integer("quantity"),
      .time("expiresDate"),
      .text("transactionId"),
      .time("purchaseDate"),
      .time("originalPurchaseDate"),
      .integer("price"),
      .text("currency"),
      .json("offer"),
      .text("ownership"),
      .text("appAccountToken"),
      .text("appTransactionId"),
      .time("revocationDate"),
      .integer("revocationReason"),
      .time("signedDate"),
      .json("cause"),
    ])

  private static let entitlements = TableDefinition(
    table: .entitlements, topic: "appstore.entitlements", key: .text("transactionId"),
    columns: [
      .text("transactionId"),
      .text("originalTransactionId"),
      .text("bundleId"),
      .text("environment"),
      .text("productId"),
      .text("productType"),
      .integer("quantity"),
      .text("ownership"),
      .text("appAccountToken"),
      .time("purchaseDate"),
      .time("expiresDate"),
      .boolean("revoked"),
      .json("revocation"),
      .time("signedDate"),
      .text("source"),
      .text("notificationId"),
    ])

  private static let notifications = TableDefinition(
    table: .notifications, topic: "appstore.decoded.notifications", key: nil,
    columns: [
      .text("notificationUUID"),
      .boolean("verified"),
      .time("receivedAt"),
      .text("originalTransactionId"),
      .text("transactionId"),
      .text("productId"),
      .text("appAccountToken"),
      .text("notificationType"),
      .text("subtype"),
      .text("version"),
      .time("signedDate"),
      .text("environment"),
      .integer("appAppleId"),
      .text("bundleId"),
      .text("bundleVersion"),
      .integer("status"),
      .text("consumptionRequestReason"),
      .text("requestIdentifier"),
      .jsonText("storefrontCountryCodes"),
      .integer("succeededCount"),
      .integer("failedCount"),
      .text("externalPurchaseId"),
      .time("tokenCreationDate"),
      .time("tokenExpirationDate"),
      .text("tokenType"),
      .jsonText("otherFields"),
    ])

  private static let transactions = TableDefinition(
    table: .transactions, topic: "appstore.decoded.transactions", key: nil,
    columns: [
      .text("kind"),
      .text("notificationUUID"),
      .text("notificationType"),
      .text("subtype"),
      .boolean("verified"),
      .time("receivedAt"),
      .text("originalTransactionId"),
      .text("transactionId"),
      .text("webOrderLineItemId"),
      .text("bundleId"),
      .text("productId"),
      .text("subscriptionGroupIdentifier"),
      .time("purchaseDate"),
      .time("originalPurchaseDate"),
      .time("expiresDate"),
      .integer("quantity"),
      .text("type"),
      .text("appAccountToken"),
      .text("inAppOwnershipType"),
      .time("signedDate"),
      .integer("revocationReason"),
      .time("revocationDate"),
      .boolean("isUpgraded"),
      .integer("offerType"),
      .text("offerIdentifier"),
      .text("environment"),
      .text("storefront"),
      .text("storefrontId"),
      .text("transactionReason"),
      .text("currency"),
      .integer("price"),
      .text("offerDiscountType"),
      .text("appTransactionId"),
      .text("offerPeriod"),
      .text("revocationType"),
      .integer("revocationPercentage"),
      .jsonText("advancedCommerceInfo"),
      .text("billingPlanType"),
      .jsonText("commitmentInfo"),
      .integer("expirationIntent"),
      .text("autoRenewProductId"),
      .integer("autoRenewStatus"),
      .boolean("isInBillingRetryPeriod"),
      .integer("priceIncreaseStatus"),
      .time("gracePeriodExpiresDate"),
      .time("recentSubscriptionStartDate"),
      .time("renewalDate"),
      .integer("renewalPrice"),
      .jsonText("eligibleWinBackOfferIds"),
      .text("renewalBillingPlanType"),
      .text("receiptType"),
      .integer("appAppleId"),
      .text("applicationVersion"),
      .integer("versionExternalIdentifier"),
      .time("receiptCreationDate"),
      .text("originalApplicationVersion"),
      .text("deviceVerification"),
      .text("deviceVerificationNonce"),
      .time("preorderDate"),
      .text("originalPlatform"),
      .jsonText("otherFields"),
    ])
}
