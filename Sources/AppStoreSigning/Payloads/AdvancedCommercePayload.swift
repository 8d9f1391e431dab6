// `advancedCommerceInfo` in transactions and renewal info.
package import AppStore

/// The data of an Advanced Commerce subscription with one item, shared by transactions and renewal info.
package struct AdvancedCommercePayload {
  package var requestReferenceId: String
  package var period: String
  package var displayName: String
  package var sku: String
  package var price: Int64

  package init(requestReferenceId: String, period: String, displayName: String, sku: String, price: Int64) {
    self.requestReferenceId = requestReferenceId
    self.period = period
    self.displayName = displayName
    self.sku = sku
    self.price = price
  }

  /// - Parameter consistencyToken: only for renewal info.
  package func json(consistencyToken: String? = nil) -> JSONObject {
    JSONObject(ordered: [
      "consistencyToken": consistencyToken.map { .string($0) },
      "requestReferenceId": .string(requestReferenceId),
      "taxCode": "S021-08-1",
      "period": .string(period),
      "descriptors": ["description": .string(displayName), "displayName": .string(displayName)],
      "items": .array([
        .object(
          JSONObject(ordered: [
            "SKU": .string(sku), "description": .string(displayName), "displayName": .string(displayName),
            "price": .integer(price),
          ]))
      ]),
    ])
  }
}
