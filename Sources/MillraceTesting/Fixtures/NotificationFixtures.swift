// Notifications for tests of handlers: signed with a chain that the test generates, verified, and encoded as the
// ingress encodes them.

public import AppStore
public import AppStoreSignature
public import AppStoreSigning
public import KafkaClient
internal import MillraceCore
public import MillraceRecords

/// Creates signed notifications of one app, and the records that the ingress would write for them.
///
/// ```swift
/// var fixtures = try NotificationFixtures(seed: 1)
/// let refund = try await fixtures.next(SampleKind(.refund)) { $0.transaction["productId"] = .string("coins.100") }
/// try log.append(refund.producerRecord)
/// ```
///
/// The same seed gives the same identifiers. Signatures differ from run to run, because ECDSA is randomised.
public struct NotificationFixtures: Sendable {
  /// The parts of a notification that a test can change before it is signed.
  public struct Draft: Sendable, Hashable {
    /// The notification's payload. Its `data` receives the two tokens below.
    public var payload: JSONObject
    /// The payload of `signedTransactionInfo`; nil if this kind of notification has none.
    public var transaction: JSONObject?
    /// The payload of `signedRenewalInfo`; nil if this kind of notification has none.
    public var renewalInfo: JSONObject?

    /// Sets the subscription or purchase of the notification, so that it has the same key as others with this id.
    public mutating func setOriginalTransactionId(_ id: String) {
      transaction?["originalTransactionId"] = .string(id)
      renewalInfo?["originalTransactionId"] = .string(id)
    }
  }

  /// The certificate chain that signs the notifications.
  public let chain: SigningChain
  /// The app of the notifications.
  public let app: SampleApp
  /// A verifier that trusts only this chain, and not Apple's.
  public let verifier: SignedDataVerifier
  /// A policy that accepts only this app.
  public let identities: IdentityPolicy

  private let router: NotificationRouter
  private let began: Timestamp
  private var made: Int64 = 0
  private var samples: SampleNotifications
  private var samplesV1: SampleNotificationsV1

  /// Creates fixtures from a seed.
  ///
  /// - Parameters:
  ///   - app: The app of the notifications.
  ///   - router: Selects the topic of each notification; nil sends all to ``defaultTopic``.
  ///   - date: The signed date of the first notification. Each further one is one second later.
  ///   - seed: The seed of the identifiers.
  /// - Throws: ``SigningError``; ``MillraceError`` and ``VerificationError`` do not occur in practice.
  public init(
    app: SampleApp = SampleApp(), router: NotificationRouter? = nil,
    from date: Timestamp = Timestamp(millisecondsSince1970: 1_767_225_600_000), seed: UInt64
  ) throws {
    chain = try SigningChain.generate(at: date, seed: seed)
    self.app = app
    var configuration = SignedDataVerifier.Configuration()
    configuration.trustedRoots = [chain.rootDER]
    configuration.now = { date }
    verifier = try SignedDataVerifier(configuration)
    identities = IdentityPolicy([
      AppIdentity(bundleId: app.bundleId, appAppleId: app.appAppleId, environments: [app.environment])
    ])
    self.router = try router ?? Self.router(to: Self.defaultTopic)
    began = date
    samples = SampleNotifications(chain: chain, app: app, seed: seed)
    samplesV1 = SampleNotificationsV1(app: app, password: nil, seed: seed)
  }

  /// The topic of all notifications if there is no router.
  public static let defaultTopic = "appstore.notifications.subscriptions"

  /// Returns the next notification of a kind.
  ///
  /// - Parameters:
  ///   - signedDate: The signed date; nil means one second after the previous notification.
  ///   - topic: The topic; nil means the router's choice.
  ///   - change: Changes the notification before it is signed.
  /// - Throws: ``SigningError``; ``VerificationError`` if a change makes it a notification that the ingress would
  ///   refuse.
  public mutating func next(
    _ kind: SampleKind, signedDate: Timestamp? = nil, to topic: String? = nil, origin: NotificationOrigin = .post,
    _ change: (inout Draft) -> Void = { _ in }
  ) async throws -> NotificationFixture {
    let sample = try samples.next(kind, signedDate: nextDate(signedDate))
    let jws = try resigned(sample.jws, change)
    let verified = try await verifier.verifyNotification(jws, identity: identities)
    let record = NotificationRecord.v2(
      jws: jws, payload: verified.payload, transaction: verified.transaction?.payload,
      renewalInfo: verified.renewalInfo?.payload, appTransaction: verified.appTransaction?.payload, origin: origin,
      traceParent: nil,
      router: try topic.map { try Self.router(to: $0) } ?? router)
    return NotificationFixture(record: record)
  }

  /// Returns one notification of every kind that Apple documents.
  public mutating func everyKind() async throws -> [NotificationFixture] {
    var fixtures: [NotificationFixture] = []
    for kind in SampleKind.all { fixtures.append(try await next(kind)) }
    return fixtures
  }

  /// Returns the next version 1 notification of a type, as Kafka has it: unsigned, and without the shared secret.
  ///
  /// - Parameters:
  ///   - date: The time of receipt; nil means one second after the previous notification.
  ///   - topic: The topic; nil means the router's choice.
  public mutating func nextV1(
    _ type: NotificationTypeV1, at date: Timestamp? = nil, to topic: String? = nil
  ) throws -> NotificationFixture {
    let date = nextDate(date)
    let bytes = samplesV1.next(type, at: date).body
    let record = NotificationRecord.v1(
      value: bytes, body: try ResponseBodyV1(parsing: bytes), bundleId: app.bundleId, receivedAt: date, origin: .post,
      traceParent: nil, router: try topic.map { try Self.router(to: $0) } ?? router)
    return NotificationFixture(record: record)
  }

  // MARK: - Pieces

  private mutating func nextDate(_ date: Timestamp?) -> Timestamp {
    defer { made += 1 }
    return date ?? began + .seconds(made)
  }

  private func resigned(_ jws: [UInt8], _ change: (inout Draft) -> Void) throws -> [UInt8] {
    let payload = try UnverifiedToken(parsing: jws).payload
    var data: JSONObject?
    if case .object(let object)? = payload["data"] { data = object }
    let original = Draft(
      payload: payload, transaction: try Self.token("signedTransactionInfo", in: data),
      renewalInfo: try Self.token("signedRenewalInfo", in: data))
    var draft = original
    change(&draft)
    guard draft != original else { return jws }
    if case .object(var data)? = draft.payload["data"] {
      if draft.transaction != original.transaction { data["signedTransactionInfo"] = try sign(draft.transaction) }
      if draft.renewalInfo != original.renewalInfo { data["signedRenewalInfo"] = try sign(draft.renewalInfo) }
      draft.payload["data"] = .object(data)
    }
    return try chain.sign(JSON.object(draft.payload).serialized())
  }

  private func sign(_ payload: JSONObject?) throws -> JSON? {
    try payload.map { .string(String(decoding: try chain.sign(JSON.object($0).serialized()), as: UTF8.self)) }
  }

  private static func token(_ name: String, in data: JSONObject?) throws -> JSONObject? {
    guard case .string(let token)? = data?[name] else { return nil }
    return try UnverifiedToken(parsing: Array(token.utf8)).payload
  }

  private static func router(to topic: String) throws(MillraceError) -> NotificationRouter {
    try NotificationRouter([
      TopicDefinition(name: topic, notifications: TopicDefinition.Notifications(unrecognized: true))
    ])
  }
}

/// A notification in the form in which Kafka has it.
public struct NotificationFixture: Sendable, Hashable {
  /// The record that the ingress would write.
  public let record: NotificationRecord

  /// `notificationUUID`; for version 1, the digest of the body.
  public var id: String { record.event.id }
  /// The ordering key.
  public var key: String { record.key }
  /// The JWS as signed; for version 1, the body without its password.
  public var bytes: [UInt8] { record.value }

  /// The record as a producer sends it.
  public var producerRecord: ProducerRecord { record.producerRecord }

  /// Returns the record as a consumer receives it.
  /// - Parameter timestamp: The time when it was written, in milliseconds since 1970.
  public func consumerRecord(partition: Int32 = 0, offset: Int64 = 0, timestamp: Int64) -> ConsumerRecord {
    let record = producerRecord
    return ConsumerRecord(
      topic: record.topic, partition: partition, offset: offset, timestamp: timestamp, key: record.key,
      value: record.value, headers: record.headers)
  }
}
