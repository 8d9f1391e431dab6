/// Whether a purchase was delivered and works (App Store Server API, `deliveryStatus`; Send Consumption Information).
public struct DeliveryStatus: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Delivered and working properly.
  public static let delivered = DeliveryStatus(rawValue: "DELIVERED")
  /// Not delivered because of a quality issue.
  public static let undeliveredQualityIssue = DeliveryStatus(rawValue: "UNDELIVERED_QUALITY_ISSUE")
  /// Not delivered: the customer received the wrong item.
  public static let undeliveredWrongItem = DeliveryStatus(rawValue: "UNDELIVERED_WRONG_ITEM")
  /// Not delivered because of a server outage.
  public static let undeliveredServerOutage = DeliveryStatus(rawValue: "UNDELIVERED_SERVER_OUTAGE")
  /// Not delivered for another reason.
  public static let undeliveredOther = DeliveryStatus(rawValue: "UNDELIVERED_OTHER")

  /// The values that Apple documents.
  public static let allKnown: [DeliveryStatus] = [
    .delivered, .undeliveredQualityIssue, .undeliveredWrongItem, .undeliveredServerOutage, .undeliveredOther,
  ]
}
