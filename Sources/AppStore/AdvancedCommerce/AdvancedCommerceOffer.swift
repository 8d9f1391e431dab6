// A lower price for an Advanced Commerce item.

/// An offer on an item (Advanced Commerce API, `Offer`). Prices are in thousandths of the currency.
public struct AdvancedCommerceOffer: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// How long one period of the offer is.
  public var period: AdvancedCommerceOfferPeriod? {
    get { self["period"] }
    set { self["period"] = newValue }
  }

  /// How many periods the offer lasts.
  public var periodCount: Int64? {
    get { self["periodCount"] }
    set { self["periodCount"] = newValue }
  }

  /// The price of one period.
  public var price: Int64? {
    get { self["price"] }
    set { self["price"] = newValue }
  }

  /// Why the offer was made.
  public var reason: AdvancedCommerceOfferReason? {
    get { self["reason"] }
    set { self["reason"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("period", \.period),
    DocumentedField("periodCount", \.periodCount),
    DocumentedField("price", \.price),
    DocumentedField("reason", \.reason),
  ]
}
