// Verifies posted bytes before the ingress writes them, and again for a resubmission. The result is a notification that
// Apple is known to have sent, or a refusal. No Kafka, no HTTP.

package import MillraceTime
package import AppStore
package import AppStoreSignature
package import MillraceCore

/// Decides which posted bodies are genuine notifications for a configured app.
package struct NotificationAdmission: Sendable {
  private let verifier: SignedDataVerifier
  private let identities: IdentityPolicy
  private let sharedSecrets: SharedSecretCheck
  private let unverifiable: IngressSettings.Unverifiable

  /// Creates an admission from its parts.
  package init(
    verifier: SignedDataVerifier, identities: IdentityPolicy, sharedSecrets: SharedSecretCheck,
    unverifiable: IngressSettings.Unverifiable = .retry
  ) {
    self.verifier = verifier
    self.identities = identities
    self.sharedSecrets = sharedSecrets
    self.unverifiable = unverifiable
  }

  /// Creates an admission from a configuration. Reads the root certificates and shared secrets.
  ///
  /// - Parameter revocation: Checks whether a chain was revoked; nil: no check.
  /// - Throws: ``MillraceError`` that names the file that is unreadable or not a certificate.
  package init(
    _ configuration: MillraceConfiguration, clock: MillraceClock, revocation: (any RevocationChecking)? = nil
  ) throws(MillraceError) {
    self.init(
      verifier: try SignedDataVerifier.configured(configuration.trust, clock: clock, revocation: revocation),
      identities: IdentityPolicy(
        configuration.apps.map {
          AppIdentity(bundleId: $0.bundleId, appAppleId: $0.appAppleId, environments: Set($0.environments))
        }),
      sharedSecrets: try SharedSecretCheck(configuration.apps),
      unverifiable: configuration.ingress.unverifiable)
  }

  /// The leaf certificates that signed a genuine notification since the start, newest first.
  package var provenLeaves: [SigningLeaf] { verifier.provenLeaves }

  /// Verifies a body posted as version 2 (`responseBodyV2`): `{"signedPayload": "<JWS>"}`.
  package func v2(body: [UInt8]) async throws(Refusal) -> AdmittedNotification {
    let posted: ResponseBodyV2
    do {
      posted = try ResponseBodyV2(parsing: body)
    } catch {
      throw Refusal(.malformed, .malformed, "\(error)")
    }
    guard let jws = posted.signedPayload else {
      throw Refusal(.malformed, .malformed, "signedPayload is missing or not text")
    }
    return try await v2(jws: Array(jws.utf8))
  }

  /// Verifies a version 2 notification as Apple signed it, without the body around it.
  package func v2(jws: [UInt8]) async throws(Refusal) -> AdmittedNotification {
    let verified: VerifiedNotification
    do {
      verified = try await verifier.verifyNotification(jws, identity: identities)
    } catch {
      throw Refusal(error, unverifiable: unverifiable).keeping(jws)
    }
    if let refusal = Refusal(verified.inner, unverifiable: unverifiable) { throw refusal.keeping(jws) }
    return .v2(verified, jws: jws)
  }

  /// Whether a version 1 body can be admitted: false if no app has a shared secret.
  package var acceptsV1: Bool { !sharedSecrets.isEmpty }

  /// Verifies a body posted as version 1 (`responseBodyV1`): JSON with the shared secret in `password`.
  ///
  /// The secret is checked before the body is parsed into a tree, which takes thirty times the body's size.
  package func v1(body: [UInt8]) throws(Refusal) -> AdmittedNotification {
    let passwords: [Secret]
    let envelope: ResponseBodyV1.Envelope
    do {
      passwords = try ResponseBodyV1.Envelope.passwords(in: body)
    } catch {
      throw Refusal(.malformed, .malformed, "\(error)")
    }
    guard sharedSecrets.judge(passwords, bundleId: nil) != .wrong else { throw Self.wrongSecret }
    do {
      envelope = try ResponseBodyV1.Envelope(parsing: body)
    } catch {
      throw Refusal(.malformed, .malformed, "\(error)")
    }
    guard envelope.body.notification_type != nil else {
      throw Refusal(.malformed, .malformed, "notification_type is missing or not text")
    }
    return try admit(envelope)
  }

  private func admit(_ envelope: ResponseBodyV1.Envelope) throws(Refusal) -> AdmittedNotification {
    let body = envelope.body
    let bundleId = body.bundleId
    switch sharedSecrets.judge(envelope.passwords, bundleId: bundleId) {
    case .wrong:
      throw Self.wrongSecret
    case .right(let app):
      let environment = body.appStoreEnvironment
      guard let environment, app.environments.contains(environment) else {
        throw refusal(.environmentNotConfigured, "environment \(environment?.rawValue ?? "unknown") is not configured")
          .keeping(envelope.bytes, secretOf: [app.bundleId])
      }
      return .v1(
        body, value: envelope.bytes, bundleId: app.bundleId, passwordPlace: envelope.passwordPlace)
    case .noApp(let secretOf):
      throw refusal(.appNotConfigured, "the secret matches, the app \(bundleId ?? "(none named)") is not configured")
        .keeping(envelope.bytes, secretOf: secretOf)
    }
  }

  private static let wrongSecret = Refusal(.wrongSecret, .unauthorized, "no configured shared secret matches")

  private func refusal(_ reason: Refusal.Reason, _ message: String) -> Refusal {
    Refusal(reason, unverifiable == .retry ? .retryLater : .unauthorized, message, isWorthKeeping: true)
  }
}

/// A notification that Apple is known to have sent.
package enum AdmittedNotification: Sendable {
  /// A verified version 2 notification, with the JWS exactly as signed.
  case v2(VerifiedNotification, jws: [UInt8])
  /// A version 1 notification with a valid secret: its body without `password`, and the position of `password` if
  /// known.
  case v1(ResponseBodyV1, value: [UInt8], bundleId: String, passwordPlace: ResponseBodyV1.PasswordPlace? = nil)

  /// Returns the notification's record.
  package func record(
    origin: NotificationOrigin, traceParent: TraceParent?, receivedAt: Timestamp, router: NotificationRouter
  ) -> NotificationRecord {
    switch self {
    case .v2(let verified, let jws):
      .v2(
        jws: jws, payload: verified.payload, transaction: verified.transaction?.payload,
        renewalInfo: verified.renewalInfo?.payload, appTransaction: verified.appTransaction?.payload, origin: origin,
        traceParent: traceParent, router: router)
    case .v1(let body, let value, let bundleId, let passwordPlace):
      .v1(
        value: value, body: body, bundleId: bundleId, passwordPlace: passwordPlace, receivedAt: receivedAt,
        origin: origin,
        traceParent: traceParent, router: router)
    }
  }

  /// The ``typeLabel`` of a type that Apple does not document.
  package static let unknownTypeLabel = "unknown"

  /// The notification's type as Apple spells it, for metrics. A type that Apple does not document is
  /// ``unknownTypeLabel``, which bounds the number of label values.
  package var typeLabel: String {
    switch self {
    case .v2(let verified, _):
      verified.payload.notificationType.flatMap { $0.isKnown ? $0.rawValue : nil } ?? Self.unknownTypeLabel
    case .v1(let body, _, _, _):
      body.notification_type.flatMap { $0.isKnown ? $0.rawValue : nil } ?? Self.unknownTypeLabel
    }
  }
}
