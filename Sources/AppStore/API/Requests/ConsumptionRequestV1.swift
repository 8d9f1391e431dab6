// The consumption information about a purchase, in version 1.

extension ConsumptionRequestV1 {
  /// Creates a request in which every field except these three has its value for "not declared". It is not checked yet:
  /// see ``violations()``.
  public init(customerConsented: Bool, sampleContentProvided: Bool, deliveryStatus: DeliveryStatusV1) {
    self.init()
    self.customerConsented = customerConsented
    consumptionStatus = .undeclared
    platform = .undeclared
    self.sampleContentProvided = sampleContentProvided
    self.deliveryStatus = deliveryStatus
    appAccountToken = ""
    accountTenure = .undeclared
    playTime = .undeclared
    lifetimeDollarsRefunded = .undeclared
    lifetimeDollarsPurchased = .undeclared
    userStatus = .undeclared
    refundPreference = .undeclared
  }
}
