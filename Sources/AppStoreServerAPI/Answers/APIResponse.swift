// The result of a successful call: the value and its metadata.

public import AppStore
public import AppStoreSignature

/// The response to a call.
public struct APIResponse<Value: Sendable>: Sendable {
  /// The requested value. Every signature in it is verified.
  public let value: Value
  /// The environment that responded.
  public let environment: AppStoreEnvironment
  /// The HTTP status, 200 to 299.
  public let status: Int
  /// The header fields.
  public let headers: APIHeaders
  /// The body as received, including unknown fields; empty for endpoints that respond without one.
  public let json: JSONObject
  /// The items of a list that are missing from ``value``, because they are not as documented.
  public let skipped: [SkippedItem]
}

/// An item of a list that is not as Apple documents, such as a transaction without its app. The others count.
public struct SkippedItem: Sendable, Hashable, CustomStringConvertible {
  /// The position in the body, such as `signedTransactions[1]`.
  public let item: String
  /// The reason.
  public let error: VerificationError

  /// The position and the reason.
  public var description: String { "\(item): \(error)" }
}

/// A payload and the JWS that signs it.
public struct SignedItem<Payload: AppStoreObject>: Sendable, Hashable {
  /// The verified payload.
  public let payload: Payload
  /// The compact JWS that contained it.
  public let jws: String
}

/// A verified transaction.
public typealias SignedTransaction = SignedItem<JWSTransactionDecodedPayload>
/// Verified renewal info.
public typealias SignedRenewalInfo = SignedItem<JWSRenewalInfoDecodedPayload>
/// A verified app transaction.
public typealias SignedAppTransaction = SignedItem<AppTransaction>
