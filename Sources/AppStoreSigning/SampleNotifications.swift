// Signed notifications of every type and subtype, of the size and with the order of members that Apple's have.
public import AppStore

/// A signed notification and what it says.
public struct SampleNotification: Sendable {
  /// Type and subtype.
  public var kind: SampleKind
  /// `notificationUUID`.
  public var notificationUUID: String
  /// `signedDate`.
  public var signedDate: Timestamp
  /// What orders the notification: `originalTransactionId`, `requestIdentifier`, `externalPurchaseId` or
  /// `appTransactionId`; `notificationUUID` for TEST.
  public var orderingKey: String
  /// The compact JWS, the value of `signedPayload`.
  public var jws: [UInt8]
  /// The body that Apple posts: `{"signedPayload":"…"}`.
  public var body: [UInt8] {
    postBody(jws)
  }
}

/// Makes notifications of one app under one chain.
///
/// One seed gives one sequence of identifiers; the signatures differ from run to run because ECDSA is randomised.
public struct SampleNotifications: Sendable {
  /// The chain that signs, inner tokens included.
  public var chain: SigningChain
  /// The app the notifications are about.
  public var app: SampleApp
  private var generator: SeededGenerator

  /// Starts the sequence that belongs to `seed`.
  public init(chain: SigningChain, app: SampleApp = SampleApp(), seed: UInt64) {
    self.chain = chain
    self.app = app
    generator = SeededGenerator(seed: seed)
  }

  /// The next notification of `kind`, signed at `signedDate`, about a purchase of its own.
  ///
  /// A subscription's is about 18 kB, a one-time purchase's 12 kB, a TEST 5 kB, as Apple's are.
  public mutating func next(_ kind: SampleKind, signedDate: Timestamp) throws(SigningError) -> SampleNotification {
    let purchase = SamplePurchase(app: app, kind: kind, signedDate: signedDate, using: &generator)
    let uuid = generator.uuid()
    let (part, key) = try part(of: purchase, notificationUUID: uuid)
    let payload = notificationPayload(kind: kind, notificationUUID: uuid, part: part, signedDate: signedDate)
    return SampleNotification(
      kind: kind, notificationUUID: uuid, signedDate: signedDate, orderingKey: key, jws: try chain.sign(payload.bytes))
  }

  /// One notification of every documented type and subtype, one millisecond apart from `signedDate` on.
  public mutating func everyKind(from signedDate: Timestamp) throws(SigningError) -> [SampleNotification] {
    var notifications: [SampleNotification] = []
    for kind in SampleKind.all {
      notifications.append(try next(kind, signedDate: signedDate + .milliseconds(notifications.count)))
    }
    return notifications
  }

  /// The one of `data`, `summary`, `externalPurchaseToken` and `appData` that the type carries, and its ordering key.
  private mutating func part(
    of purchase: SamplePurchase, notificationUUID: String
  ) throws(SigningError) -> (part: NotificationPart, key: String) {
    let app = app.payload
    switch (purchase.kind.type, purchase.kind.subtype) {
    case (.test, _):
      return (.test(app), notificationUUID)
    case (.renewalExtension, .summary?):
      let identifier = generator.uuid()
      let part = NotificationPart.summary(
        app, productId: app.bundleId + ".premium.monthly", requestIdentifier: identifier,
        storefronts: ["CAN", "USA", "MEX"], succeeded: 5, failed: 2)
      return (part, identifier)
    case (.externalPurchaseToken, let subtype):
      let identifier = (self.app.isProduction ? "" : "SANDBOX_") + generator.uuid()
      let isReport = subtype == .unreported
      let part = NotificationPart.token(
        app, identifier: identifier, created: purchase.signedDate,
        expires: isReport ? nil : purchase.signedDate + .seconds(30 * 86_400), type: isReport ? nil : .services)
      return (part, identifier)
    case (.rescindConsent, _):
      return (
        .appData(app, appTransaction: try chain.sign(purchase.appTransaction.bytes)), purchase.appTransactionId
      )
    default:
      return (try data(of: purchase), purchase.originalTransactionId)
    }
  }

  private func data(of purchase: SamplePurchase) throws(SigningError) -> NotificationPart {
    let isSubscription = purchase.kind.type != .oneTimeCharge
    return .data(
      app.payload, transaction: try chain.sign(purchase.transaction.bytes),
      renewalInfo: isSubscription ? try chain.sign(purchase.renewalInfo.bytes) : nil,
      status: isSubscription ? purchase.status : nil,
      reason: purchase.kind.type == .consumptionRequest ? .unintendedPurchase : nil)
  }
}
