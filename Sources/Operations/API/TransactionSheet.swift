// One transaction, renewal or app transaction in detail. The most important fields come first, as text; all other
// fields follow under Apple's names.

package import AppStore

extension FactSheet {
  /// The details of a transaction.
  ///
  /// - Parameter now: The current time, which decides whether the transaction has expired.
  package static func transaction(_ transaction: JWSTransactionDecodedPayload, at now: Timestamp) -> FactSheet {
    var sheet = FactSheet()
    let state = TransactionState(transaction, at: now).cell
    sheet.add("transaction", transaction.transactionId, .bold)
    sheet.add("state", state.text, state.style)
    if transaction.originalTransactionId != transaction.transactionId {
      sheet.add("original transaction", transaction.originalTransactionId)
    }
    sheet.add("environment", transaction.environment?.rawValue)
    sheet.add("app", transaction.bundleId)
    sheet.beginGroup()
    sheet.add("product", transaction.product)
    sheet.add("subscription group", transaction.subscriptionGroupIdentifier)
    if let quantity = transaction.quantity, quantity != 1 { sheet.add("quantity", "\(quantity)") }
    sheet.add("price", transaction.price.map { HumanText.price(thousandths: $0, currency: transaction.currency) })
    sheet.add("offer", transaction.offer)
    sheet.add("storefront", transaction.storefront)
    sheet.add("reason", transaction.transactionReason?.rawValue.lowercased())
    if transaction.inAppOwnershipType == .familyShared { sheet.add("ownership", "shared by the family", .cyan) }
    sheet.beginGroup()
    sheet.add("purchased", transaction.purchaseDate.map { RecordView.seconds($0) })
    if transaction.originalPurchaseDate != transaction.purchaseDate {
      sheet.add("first purchased", transaction.originalPurchaseDate.map { RecordView.seconds($0) })
    }
    sheet.add("expires", transaction.expiresDate.map { RecordView.seconds($0) })
    sheet.add("revoked", transaction.revocation, .red)
    sheet.add("signed", transaction.signedDate.map { RecordView.seconds($0) }, .dim)
    sheet.beginGroup()
    sheet.add("account", transaction.appAccountToken)
    sheet.addRest(
      transaction.json,
      but: Set([
        "transactionId", "originalTransactionId", "environment", "bundleId", "productId", "type",
        "subscriptionGroupIdentifier", "quantity", "price", "currency", "offerType", "offerIdentifier",
        "offerDiscountType", "offerPeriod", "storefront", "transactionReason", "inAppOwnershipType", "purchaseDate",
        "originalPurchaseDate", "expiresDate", "signedDate", "appAccountToken",
      ]).union(transaction.revocationDate == nil ? [] : revocationFields), odd: transaction.oddFields)
    return sheet
  }

  /// The details of the purchase of the app itself.
  package static func appTransaction(_ transaction: AppTransaction) -> FactSheet {
    var sheet = FactSheet()
    sheet.add("app transaction", transaction.appTransactionId, .bold)
    sheet.add("environment", transaction.environment?.rawValue)
    sheet.add("app", transaction.bundleId)
    sheet.add("Apple ID", transaction.appAppleId.map { "\($0)" })
    sheet.beginGroup()
    sheet.add("first downloaded", transaction.originalPurchaseDate.map { RecordView.seconds($0) })
    sheet.add("first version", transaction.originalApplicationVersion)
    sheet.add("first platform", transaction.originalPlatform?.rawValue)
    sheet.add("pre-ordered", transaction.preorderDate.map { RecordView.seconds($0) })
    sheet.add("version", transaction.applicationVersion)
    sheet.add("signed", transaction.receiptCreationDate.map { RecordView.seconds($0) }, .dim)
    sheet.beginGroup()
    sheet.addRest(
      transaction.json,
      but: [
        "appTransactionId", "receiptType", "bundleId", "appAppleId", "originalPurchaseDate",
        "originalApplicationVersion", "originalPlatform", "preorderDate", "applicationVersion", "receiptCreationDate",
      ], odd: transaction.oddFields)
    return sheet
  }

  /// The fields that the revocation line covers if there is a revocation date.
  private static let revocationFields: Set = [
    "revocationDate", "revocationReason", "revocationType", "revocationPercentage",
  ]

  /// Adds the fields that are not shown above: unknown and rare fields, and values of an undocumented type.
  private mutating func addRest(_ json: JSONObject, but shown: Set<String>, odd: [OddField]) {
    let odd = Set(odd.map(\.path))
    for member in json.members where !shown.contains(member.key) || odd.contains(member.key) {
      if case .string(let text) = member.value {
        add(member.key, text)
      } else {
        add(member.key, String(decoding: member.value.serialized(), as: UTF8.self))
      }
    }
  }
}

extension JWSTransactionDecodedPayload {
  /// The product and its type: `com.example.pro (Consumable)`.
  fileprivate var product: String? {
    guard let productId, let type else { return productId }
    return "\(productId) (\(type))"
  }

  /// The offer: `introductory offer, free trial, P1W`.
  fileprivate var offer: String? {
    Self.joined([offerType?.words, offerIdentifier, offerDiscountType?.words, offerPeriod])
  }

  /// The revocation: `2026-01-01T00:00:00Z, prorated refund of 50 %, an issue with the app`.
  fileprivate var revocation: String? {
    guard let revocationDate else { return nil }
    var what = revocationType?.words
    if let percentage = revocationPercentage, revocationType != .familyRevoke {
      what = (what ?? "refund") + " of " + HumanText.percentage(milliunits: percentage)
    }
    return Self.joined([RecordView.seconds(revocationDate), what, revocationReason?.words])
  }

  private static func joined(_ parts: [String?]) -> String? {
    let parts = parts.compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}
