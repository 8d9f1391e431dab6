// The extension of one subscription.

extension ExtendRenewalDateRequest {
  /// Creates a complete request. It is not checked yet: see ``violations()``.
  public init(
    extendByDays: Int, extendReasonCode: ExtendReasonCode, requestIdentifier: String
  ) {
    self.init()
    self.extendByDays = extendByDays
    self.extendReasonCode = extendReasonCode
    self.requestIdentifier = requestIdentifier
  }
}
