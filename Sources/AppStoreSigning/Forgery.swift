// Tokens that a verifier must reject, each with one fault and a label for it.
public import AppStore

/// A notification that a verifier must reject.
public struct Forgery: Sendable, CustomStringConvertible {
  /// The expected kind of rejection.
  public enum Expectation: Sendable, Hashable {
    /// The outer token is rejected with this class: `format`, `algorithm`, `chain-length`, `certificate`, `chain`,
    /// `signature`, `app-identifier` or `environment`.
    case refused(String)
    /// The outer token is genuine; an inner token disagrees with it.
    case innerMismatch
    /// The outer token is genuine; an inner token is not.
    case innerForged
  }

  /// The fault, in a few hyphenated words.
  public var label: String
  /// The compact JWS.
  public var jws: [UInt8]
  /// The expected rejection.
  public var expectation: Expectation
  /// Whether the certificate chain is the only fault and the signature is correct. This refers to the outer token, or
  /// to the inner token at fault.
  public var isOnlyChainFault = false

  /// The label.
  public var description: String { label }

  init(_ label: String, _ jws: [UInt8], _ expectation: Expectation, isOnlyChainFault: Bool = false) {
    self.label = label
    self.jws = jws
    self.expectation = expectation
    self.isOnlyChainFault = isOnlyChainFault
  }
}

/// Creates all known forgeries for a verifier that trusts `chain` and accepts `app`.
public struct Forgeries: Sendable {
  /// The chain that the verifier trusts.
  public var chain: SigningChain
  /// The app that the verifier accepts.
  public var app: SampleApp
  /// The signing date in the tokens; within the leaf's validity.
  public var signedDate: Timestamp
  let seed: UInt64

  /// Creates forgeries whose identifiers are derived from `seed`.
  public init(chain: SigningChain, app: SampleApp = SampleApp(), signedDate: Timestamp, seed: UInt64) {
    self.chain = chain
    self.app = app
    self.signedDate = signedDate
    self.seed = seed
  }

  /// Returns all forgeries: of the envelope, signature, chain, algorithms, identity and inner tokens.
  public func all() throws(SigningError) -> [Forgery] {
    var forgeries = try ofEnvelope()
    forgeries += try ofSignature()
    forgeries += try ofChain()
    forgeries += try ofAlgorithms()
    forgeries += try ofIdentity()
    forgeries += try ofInnerTokens()
    return forgeries
  }

  /// A genuine DID_RENEW, from which most forgeries are made.
  func genuine(signedBy other: SigningChain? = nil, at date: Timestamp? = nil) throws(SigningError) -> [UInt8] {
    try (other ?? chain).sign(payload(at: date))
  }

  /// The payload of a DID_RENEW whose inner tokens are genuine.
  func payload(at date: Timestamp? = nil, app: SampleApp? = nil) throws(SigningError) -> [UInt8] {
    let purchase = purchase(app: app)
    return try payload(
      transaction: chain.sign(purchase.transaction.bytes), renewalInfo: chain.sign(purchase.renewalInfo.bytes),
      at: date, app: app)
  }

  func payload(
    transaction: [UInt8], renewalInfo: [UInt8], at date: Timestamp? = nil, app: SampleApp? = nil
  ) throws(SigningError) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    return notificationPayload(
      kind: SampleKind(.didRenew), notificationUUID: generator.uuid(),
      part: .data(
        (app ?? self.app).payload, transaction: transaction, renewalInfo: renewalInfo, status: .active, reason: nil),
      signedDate: date ?? signedDate
    ).bytes
  }

  func purchase(app: SampleApp? = nil) -> SamplePurchase {
    var generator = SeededGenerator(seed: seed)
    return SamplePurchase(
      app: app ?? self.app, kind: SampleKind(.didRenew), signedDate: signedDate, using: &generator)
  }

  /// The three segments of a token.
  static func segments(_ jws: [UInt8]) -> [[UInt8]] {
    jws.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
  }

  static func join(_ segments: [[UInt8]]) -> [UInt8] {
    Array(segments.joined(separator: [UInt8(ascii: ".")]))
  }
}
