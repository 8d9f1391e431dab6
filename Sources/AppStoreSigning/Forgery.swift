// Tokens that a verifier must refuse, each with one fault and a label that says which.
public import AppStore

/// A notification that must not be believed.
public struct Forgery: Sendable, CustomStringConvertible {
  /// How the refusal is classed.
  public enum Expectation: Sendable, Hashable {
    /// The outer token is refused with that class: `format`, `algorithm`, `chain-length`, `certificate`, `chain`,
    /// `signature`, `app-identifier` or `environment`.
    case refused(String)
    /// The outer token is genuine; an inner one disagrees with it.
    case innerMismatch
    /// The outer token is genuine; an inner one is not.
    case innerForged
  }

  /// What is wrong, in a few hyphenated words.
  public var label: String
  /// The compact JWS.
  public var jws: [UInt8]
  /// How it must be refused.
  public var expectation: Expectation
  /// Whether the signature, of the outer token or of the inner one at fault, is right and nothing but its certificate
  /// chain is to blame.
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

/// Makes every forgery that the project knows, for a verifier that trusts `chain` and expects `app`.
public struct Forgeries: Sendable {
  /// The chain that the verifier trusts.
  public var chain: SigningChain
  /// The app that the verifier expects.
  public var app: SampleApp
  /// When the tokens claim to have been signed; inside the leaf's validity.
  public var signedDate: Timestamp
  let seed: UInt64

  /// Forgeries whose identifiers come from `seed`.
  public init(chain: SigningChain, app: SampleApp = SampleApp(), signedDate: Timestamp, seed: UInt64) {
    self.chain = chain
    self.app = app
    self.signedDate = signedDate
    self.seed = seed
  }

  /// All of them: faults of the envelope, of signature, of chain, of identity, and of inner tokens.
  public func all() throws(SigningError) -> [Forgery] {
    var forgeries = try ofEnvelope()
    forgeries += try ofSignature()
    forgeries += try ofChain()
    forgeries += try ofIdentity()
    forgeries += try ofInnerTokens()
    return forgeries
  }

  /// A genuine DID_RENEW, the token that most forgeries are made from.
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
