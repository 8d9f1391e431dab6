// What a successful call brings: the value, and what came with it.

public import AppStore

/// The answer to a call.
public struct APIResponse<Value: Sendable>: Sendable {
  /// What was asked for; everything signed in it is verified.
  public let value: Value
  /// The environment that answered.
  public let environment: AppStoreEnvironment
  /// The HTTP status, 200 to 299.
  public let status: Int
  /// The header fields.
  public let headers: APIHeaders
  /// The body as it came, every unknown field included; empty for endpoints that answer without one.
  public let json: JSONObject
}

/// A payload and the JWS that proves it.
public struct SignedItem<Payload: AppStoreObject>: Sendable, Hashable {
  /// The payload; verified.
  public let payload: Payload
  /// The compact JWS it came in.
  public let jws: String
}

/// A verified transaction.
public typealias SignedTransaction = SignedItem<JWSTransactionDecodedPayload>
/// Verified renewal info.
public typealias SignedRenewalInfo = SignedItem<JWSRenewalInfoDecodedPayload>
/// A verified app transaction.
public typealias SignedAppTransaction = SignedItem<AppTransaction>
