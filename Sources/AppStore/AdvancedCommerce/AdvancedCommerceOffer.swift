/// An offer for an item (Advanced Commerce API, `Offer`). Prices are in thousandths of the currency.
public struct AdvancedCommerceOffer: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The length of one period of the offer.
  public var period: AdvancedCommerceOfferPeriod? {
    get { self["period"] }
    set { self["period"] = newValue }
  }

  /// The number of periods, from 1 to 12.
  public var periodCount: Int64? {
    get { self["periodCount"] }
    set { self["periodCount"] = newValue }
  }

  /// The price of one period.
  public var price: Int64? {
    get { self["price"] }
    set { self["price"] = newValue }
  }

  /// The reason for the offer.
  public var reason: AdvancedCommerceOfferReason? {
    get { self["reason"] }
    set { self["reason"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("period", \.period, [.required]),
    DocumentedField("periodCount", \.periodCount, [.required, .periodCountRange]),
    DocumentedField("price", \.price, [.required]),
    DocumentedField("reason", \.reason, [.required]),
  ]
}
