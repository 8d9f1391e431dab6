/// Whether a purchase was delivered and works (App Store Server API, `deliveryStatusV1`; Send Consumption Information
/// V1).
public struct DeliveryStatusV1: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Delivered and working properly.
  public static let deliveredAndWorkingProperly = DeliveryStatusV1(rawValue: 0)
  /// Not delivered because of a quality issue.
  public static let didNotDeliverDueToQualityIssue = DeliveryStatusV1(rawValue: 1)
  /// The wrong item was delivered.
  public static let deliveredWrongItem = DeliveryStatusV1(rawValue: 2)
  /// Not delivered because of a server outage.
  public static let didNotDeliverDueToServerOutage = DeliveryStatusV1(rawValue: 3)
  /// Not delivered because of a change of the in-game currency.
  public static let didNotDeliverDueToIngameCurrencyChange = DeliveryStatusV1(rawValue: 4)
  /// Not delivered for another reason.
  public static let didNotDeliverForOtherReason = DeliveryStatusV1(rawValue: 5)

  /// The values that Apple documents.
  public static let allKnown: [DeliveryStatusV1] = [
    .deliveredAndWorkingProperly, .didNotDeliverDueToQualityIssue, .deliveredWrongItem, .didNotDeliverDueToServerOutage,
    .didNotDeliverDueToIngameCurrencyChange, .didNotDeliverForOtherReason,
  ]
}
