// Signs data for responses. A signing failure is a server error.

internal import AppStore
internal import AppStoreSigning

extension APIEndpoints {
  func signed(_ subject: PurchaseSubject, at now: Timestamp) throws(APIFailure) -> String {
    try sign { () throws(SigningError) in try signer.signedTransaction(subject, at: now) }
  }

  /// An array of `signedTransactionInfo`.
  func signed(_ subjects: [PurchaseSubject], at now: Timestamp) throws(APIFailure) -> JSON {
    var tokens: [JSON] = []
    for subject in subjects { tokens.append(.string(try signed(subject, at: now))) }
    return .array(tokens)
  }

  func signedRenewalInfo(_ subject: PurchaseSubject, at now: Timestamp) throws(APIFailure) -> String? {
    try sign { () throws(SigningError) in try signer.signedRenewalInfo(subject, at: now) }
  }

  func signed(_ subject: CustomerSubject, at now: Timestamp) throws(APIFailure) -> String {
    try sign { () throws(SigningError) in try signer.signedAppTransaction(subject, at: now) }
  }

  func signed(_ subject: NotificationSubject) throws(APIFailure) -> String {
    try sign { () throws(SigningError) in try signer.signedPayload(subject) }
  }

  private func sign<Token>(_ body: () throws(SigningError) -> Token) throws(APIFailure) -> Token {
    do throws(SigningError) {
      return try body()
    } catch {
      throw .generalInternal
    }
  }
}

extension WorldState {
  /// A transaction in its current state.
  func subject(_ transaction: TransactionFacts) -> PurchaseSubject {
    subject(of: transaction, subscriptions[transaction.originalId])
  }
}
