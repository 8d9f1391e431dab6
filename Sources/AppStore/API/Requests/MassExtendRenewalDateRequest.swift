// The extension of all subscriptions to a product.

extension MassExtendRenewalDateRequest {
  /// Creates a complete request. It is not checked yet: see ``violations()``.
  public init(
    extendByDays: Int, extendReasonCode: ExtendReasonCode, requestIdentifier: String,
    storefrontCountryCodes: [String]? = nil, productId: String
  ) {
    self.init()
    self.extendByDays = extendByDays
    self.extendReasonCode = extendReasonCode
    self.requestIdentifier = requestIdentifier
    self.storefrontCountryCodes = storefrontCountryCodes
    self.productId = productId
  }
}
