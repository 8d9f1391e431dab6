// The consumption information about a purchase for which the customer requested a refund.

extension ConsumptionRequest {
  /// Creates a complete request. It is not checked yet: see ``violations(productType:)``.
  public init(
    customerConsented: Bool, sampleContentProvided: Bool, deliveryStatus: DeliveryStatus,
    consumptionPercentage: Int? = nil, refundPreference: RefundPreference? = nil
  ) {
    self.init()
    self.customerConsented = customerConsented
    self.sampleContentProvided = sampleContentProvided
    self.deliveryStatus = deliveryStatus
    self.consumptionPercentage = consumptionPercentage
    self.refundPreference = refundPreference
  }
}
