// Requests for an endpoint under test: every kind that an HTTP worker sends, with a signed sample as the notification.

internal import AppStoreServerAPI
package import AppStore
internal import AppStoreSignature
package import AppStoreSigning
package import HTTPWorkers
internal import KafkaClient
package import MillraceCore
internal import MillraceRecords
package import MillraceWorker

/// Creates the requests of one worker. Samples are signed with a certificate chain of this process, not with Apple's.
package struct HandlerSamples: Sendable {
  /// The key of the requests.
  package static let key = "2000000100000918"

  private let worker: String
  private let payload: HandlerSettings.Payload
  private let now: Timestamp
  private let verifier: SignedDataVerifier
  private let identity: IdentityPolicy
  private var samples: SampleNotifications

  /// - Parameters:
  ///   - worker: The name of the worker in the requests.
  ///   - payload: How much of a notification they have.
  ///   - now: The time of the samples.
  package init(worker: String, payload: HandlerSettings.Payload, now: Timestamp) throws {
    self.worker = worker
    self.payload = payload
    self.now = now
    let app = SampleApp()
    let chain = try SigningChain.generate(at: now, seed: nil)
    var configuration = SignedDataVerifier.Configuration()
    configuration.trustedRoots = [chain.rootDER]
    configuration.now = { now }
    verifier = try SignedDataVerifier(configuration)
    identity = IdentityPolicy([
      AppIdentity(bundleId: app.bundleId, appAppleId: app.appAppleId, environments: [app.environment])
    ])
    var generator = SystemRandomNumberGenerator()
    samples = SampleNotifications(chain: chain, app: app, seed: generator.next())
  }

  /// Returns a request with a notification of a kind.
  package mutating func notification(_ kind: SampleKind, state: JSON = .null) async throws -> HandlerRequest {
    let sample = try samples.next(kind, signedDate: now)
    let verified = try await verifier.verifyNotification(sample.jws, identity: identity)
    let notification = AppStoreNotification(
      id: sample.notificationUUID, event: NotificationEvent(kind.type, kind.subtype), content: .v2(verified),
      key: sample.orderingKey, bundleId: samples.app.bundleId, environment: samples.app.environment,
      signedDate: now, bytes: sample.jws, history: Self.history(at: now), traceParent: nil)
    return try request(notification, family: NotificationFamily.of(kind.type).rawValue, state: state)
  }

  /// Returns a request with any notification.
  package func request(
    _ notification: AppStoreNotification, family: String, state: JSON = .null
  ) throws -> HandlerRequest {
    guard let member = try NotificationMember.of(notification, family: family, payload: payload) else {
      throw OperationError(
        .failed, "the record is not a notification", remedy: "name a record of a topic appstore.notifications.…")
    }
    return HandlerRequest(
      id: WebhookID.of(worker: worker, .notification, [notification.id], run: nil), kind: .notification,
      worker: worker, key: notification.key, attempt: 1, isReplay: false, isReapply: false,
      time: notification.signedDate ?? notification.receivedAt, state: state, subject: member)
  }

  /// Returns a request with a notification of version 1.
  package func versionOne() -> HandlerRequest {
    let id = String(repeating: "0a", count: 32)
    var member: JSONObject = [
      "id": .string(id), "version": 1, "type": "DID_RECOVER", "family": "subscriptions",
      "bundleId": .string(samples.app.bundleId), "environment": .string(samples.app.environment.rawValue),
      "signedDate": .string(now.rfc3339), "receivedAt": .string(now.rfc3339),
    ]
    if payload != .minimal {
      member["payload"] = [
        "notification_type": "DID_RECOVER", "bid": .string(samples.app.bundleId), "environment": "PROD",
        "original_transaction_id": .string(Self.key),
      ]
    }
    return other(.notification, id: id, member)
  }

  /// Returns a request with a timer of a name that the endpoint did not set.
  package func timer() -> HandlerRequest {
    other(.timer, id: "timer", ["name": "millrace-check", "at": .string(now.rfc3339), "payload": .null])
  }

  /// Returns a request with the result of a call that the endpoint did not order.
  package func callResult(isSuccess: Bool) -> HandlerRequest {
    let result: JSON =
      isSuccess
      ? ["status": "succeeded", "body": ["transaction": ["transactionId": .string(Self.key)]]]
      : ["status": "failed", "httpStatus": 404, "errorCode": 4_040_010, "message": "Transaction id not found."]
    return other(
      .callResult, id: "call-\(isSuccess)",
      [
        "name": "millrace-check", "operation": "getTransactionInfo",
        "arguments": ["transactionId": .string(Self.key)], "result": result,
      ])
  }

  private func other(_ kind: HandlerRequest.Kind, id: String, _ subject: JSONObject) -> HandlerRequest {
    HandlerRequest(
      id: WebhookID.of(worker: worker, kind, [id, String(now.millisecondsSince1970)], run: nil), kind: kind,
      worker: worker, key: Self.key, attempt: 1, isReplay: false, isReapply: false, time: now, state: .null,
      subject: subject)
  }

  private static func history(at time: Timestamp) -> DeliveryHistory {
    DeliveryHistory(
      ConsumerRecord(
        topic: "sample", partition: 0, offset: 0, timestamp: time.millisecondsSince1970, key: nil, value: nil,
        headers: []))
  }
}
