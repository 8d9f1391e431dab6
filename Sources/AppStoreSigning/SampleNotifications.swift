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
    Array("{\"signedPayload\":\"".utf8) + jws + Array("\"}".utf8)
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
    let (part, value, key) = try part(of: purchase, notificationUUID: uuid)
    let payload = Self.payload(kind: kind, notificationUUID: uuid, part: part, value: value, signedDate: signedDate)
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

  static func payload(
    kind: SampleKind, notificationUUID: String, part: String, value: JSONObject, signedDate: Timestamp
  ) -> JSONObject {
    var payload = JSONObject(ordered: [
      "notificationType": .string(kind.type.rawValue),
      "subtype": kind.subtype.map { .string($0.rawValue) },
      "notificationUUID": .string(notificationUUID),
    ])
    // Apple writes data before version and signedDate, the three rarer parts after them.
    if part == "data" { payload[part] = .object(value) }
    payload["version"] = .string("2.0")
    payload["signedDate"] = .date(signedDate)
    if part != "data" { payload[part] = .object(value) }
    return payload
  }

  /// The one of `data`, `summary`, `externalPurchaseToken` and `appData` that the type carries, and its ordering key.
  private mutating func part(
    of purchase: SamplePurchase, notificationUUID: String
  ) throws(SigningError) -> (name: String, value: JSONObject, key: String) {
    switch (purchase.kind.type, purchase.kind.subtype) {
    case (.test, _):
      return ("data", testData, notificationUUID)
    case (.renewalExtension, .summary?):
      let identifier = generator.uuid()
      return ("summary", summary(requestIdentifier: identifier), identifier)
    case (.externalPurchaseToken, let subtype):
      let identifier = (app.isProduction ? "" : "SANDBOX_") + generator.uuid()
      return ("externalPurchaseToken", token(identifier, subtype, created: purchase.signedDate), identifier)
    case (.rescindConsent, _):
      let signed = try chain.sign(purchase.appTransaction.bytes)
      let value = JSONObject(ordered: [
        "appAppleId": .integer(app.appAppleId),
        "bundleId": .string(app.bundleId),
        "environment": .string(app.environment.rawValue),
        "signedAppTransactionInfo": .token(signed),
      ])
      return ("appData", value, purchase.appTransactionId)
    default:
      return ("data", try data(of: purchase), purchase.originalTransactionId)
    }
  }

  private func data(of purchase: SamplePurchase) throws(SigningError) -> JSONObject {
    let transaction = try chain.sign(purchase.transaction.bytes)
    let isSubscription = purchase.kind.type != .oneTimeCharge
    let renewal = isSubscription ? try chain.sign(purchase.renewalInfo.bytes) : nil
    return JSONObject(ordered: [
      "appAppleId": .integer(app.appAppleId),
      "bundleId": .string(app.bundleId),
      "bundleVersion": .string("421"),
      "environment": .string(app.environment.rawValue),
      "signedTransactionInfo": .token(transaction),
      "signedRenewalInfo": renewal.map { .token($0) },
      "status": isSubscription ? .integer(purchase.status) : nil,
      "consumptionRequestReason": purchase.kind.type == .consumptionRequest ? .string("UNINTENDED_PURCHASE") : nil,
    ])
  }

  private var testData: JSONObject {
    JSONObject(ordered: [
      "appAppleId": app.isProduction ? .integer(app.appAppleId) : nil,
      "bundleId": .string(app.bundleId),
      "environment": .string(app.environment.rawValue),
    ])
  }

  private func summary(requestIdentifier: String) -> JSONObject {
    JSONObject(ordered: [
      "environment": .string(app.environment.rawValue),
      "appAppleId": .integer(app.appAppleId),
      "bundleId": .string(app.bundleId),
      "productId": .string(app.bundleId + ".premium.monthly"),
      "requestIdentifier": .string(requestIdentifier),
      "storefrontCountryCodes": .array([.string("CAN"), .string("USA"), .string("MEX")]),
      "succeededCount": .integer(5),
      "failedCount": .integer(2),
    ])
  }

  private func token(_ identifier: String, _ subtype: Subtype?, created: Timestamp) -> JSONObject {
    JSONObject(ordered: [
      "externalPurchaseId": .string(identifier),
      "tokenCreationDate": .date(created),
      "appAppleId": .integer(app.appAppleId),
      "bundleId": .string(app.bundleId),
      "tokenExpirationDate": subtype == .unreported ? nil : .date(created + .seconds(30 * 86_400)),
      "tokenType": subtype == .unreported ? nil : .string("SERVICES"),
    ])
  }
}
