// Signed notifications of every type and subtype, with the size and member order of Apple's.
public import AppStore

/// A signed notification and its properties.
public struct SampleNotification: Sendable {
  /// The type and subtype.
  public var kind: SampleKind
  /// `notificationUUID`.
  public var notificationUUID: String
  /// `signedDate`.
  public var signedDate: Timestamp
  /// The key that orders the notification: `originalTransactionId`, `requestIdentifier`, `externalPurchaseId` or
  /// `appTransactionId`; `notificationUUID` for TEST.
  public var orderingKey: String
  /// The compact JWS, the value of `signedPayload`.
  public var jws: [UInt8]
  /// The body that Apple posts: `{"signedPayload":"…"}`.
  public var body: [UInt8] {
    postBody(jws)
  }
}

/// Creates notifications for one app, signed with one chain.
///
/// The same seed gives the same sequence of identifiers. Signatures differ from run to run, because ECDSA is
/// randomized.
public struct SampleNotifications: Sendable {
  /// The chain that signs the notifications and their inner tokens.
  public var chain: SigningChain
  /// The app in the notifications.
  public var app: SampleApp
  private var generator: SeededGenerator

  /// Starts the sequence for `seed`.
  public init(chain: SigningChain, app: SampleApp = SampleApp(), seed: UInt64) {
    self.chain = chain
    self.app = app
    generator = SeededGenerator(seed: seed)
  }

  /// Returns the next notification of `kind`, signed at `signedDate`, about a new purchase.
  ///
  /// The sizes match Apple's: about 18 kB for a subscription, 12 kB for a one-time purchase, and 5 kB for TEST.
  public mutating func next(_ kind: SampleKind, signedDate: Timestamp) throws(SigningError) -> SampleNotification {
    let purchase = SamplePurchase(app: app, kind: kind, signedDate: signedDate, using: &generator)
    let uuid = generator.uuid()
    let (part, key) = try part(of: purchase, notificationUUID: uuid)
    let payload = notificationPayload(kind: kind, notificationUUID: uuid, part: part, signedDate: signedDate)
    return SampleNotification(
      kind: kind, notificationUUID: uuid, signedDate: signedDate, orderingKey: key, jws: try chain.sign(payload.bytes))
  }

  /// Returns one notification of every documented type and subtype, starting at `signedDate` and one millisecond apart.
  public mutating func everyKind(from signedDate: Timestamp) throws(SigningError) -> [SampleNotification] {
    var notifications: [SampleNotification] = []
    for kind in SampleKind.all {
      notifications.append(try next(kind, signedDate: signedDate + .milliseconds(notifications.count)))
    }
    return notifications
  }

  /// Returns the `data`, `summary`, `externalPurchaseToken` or `appData` of the notification, and its ordering key.
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
