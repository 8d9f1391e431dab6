// Sets the account of a transaction.

extension UpdateAppAccountTokenRequest {
  /// Creates a complete request. It is not checked yet: see ``violations()``.
  public init(
    appAccountToken: String
  ) {
    self.init()
    self.appAccountToken = appAccountToken
  }
}
