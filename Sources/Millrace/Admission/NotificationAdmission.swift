// What the ingress does before it writes, and what a resubmission does again: from posted bytes to a notification that
// Apple is known to have made, or a refusal. No Kafka, no HTTP.

public import Clocks
public import AppStore
public import AppStoreSignature

/// Decides which posted bodies are Apple's words for a configured app.
public struct NotificationAdmission: Sendable {
  private let verifier: SignedDataVerifier
  private let identities: IdentityPolicy
  private let sharedSecrets: SharedSecretCheck
  private let unverifiable: IngressSettings.Unverifiable

  /// Admission by these parts.
  public init(
    verifier: SignedDataVerifier, identities: IdentityPolicy, sharedSecrets: SharedSecretCheck,
    unverifiable: IngressSettings.Unverifiable = .retry
  ) {
    self.verifier = verifier
    self.identities = identities
    self.sharedSecrets = sharedSecrets
    self.unverifiable = unverifiable
  }

  /// Admission as a configuration asks for it. Reads root certificates and shared secrets now.
  ///
  /// - Parameter revocation: Asks whether a chain was revoked; nil asks nobody.
  /// - Throws: ``MillraceError`` that names the file that cannot be read or is no certificate.
  public init(
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

  /// The leaf certificates under which something genuine was signed since the start, newest first.
  public var provenLeaves: [SigningLeaf] { verifier.provenLeaves }

  /// A body posted as version 2 (`responseBodyV2`): `{"signedPayload": "<JWS>"}`.
  public func v2(body: [UInt8]) async throws(Refusal) -> AdmittedNotification {
    let posted: ResponseBodyV2
    do {
      posted = try ResponseBodyV2(parsing: body)
    } catch {
      throw Refusal(.malformed, .malformed, "\(error)")
    }
    guard let jws = posted.signedPayload else {
      throw Refusal(.malformed, .malformed, "no signedPayload, or one that is no text")
    }
    return try await v2(jws: Array(jws.utf8))
  }

  /// A version 2 notification as Apple signed it, without the body around it.
  public func v2(jws: [UInt8]) async throws(Refusal) -> AdmittedNotification {
    let verified: VerifiedNotification
    do {
      verified = try await verifier.verifyNotification(jws, identity: identities)
    } catch {
      throw Refusal(error, unverifiable: unverifiable).keeping(jws)
    }
    if let refusal = Refusal(verified.inner, unverifiable: unverifiable) { throw refusal.keeping(jws) }
    return .v2(verified, jws: jws)
  }

  /// A body posted as version 1 (`responseBodyV1`): JSON with the shared secret in `password`.
  public func v1(body: [UInt8]) throws(Refusal) -> AdmittedNotification {
    let envelope: ResponseBodyV1.Envelope
    do {
      envelope = try ResponseBodyV1.Envelope(parsing: body)
    } catch {
      throw Refusal(.malformed, .malformed, "\(error)")
    }
    guard envelope.body.notification_type != nil else {
      throw Refusal(.malformed, .malformed, "no notification_type, or one that is no text")
    }
    return try admit(envelope)
  }

  private func admit(_ envelope: ResponseBodyV1.Envelope) throws(Refusal) -> AdmittedNotification {
    let body = envelope.body
    let bundleId = body.bundleId
    switch sharedSecrets.judge(envelope.passwords, bundleId: bundleId) {
    case .wrong:
      throw Refusal(.wrongSecret, .unauthorized, "no configured shared secret matches")
    case .right(let app):
      let environment = body.appStoreEnvironment
      guard let environment, app.environments.contains(environment) else {
        throw refusal(.environmentNotConfigured, "environment \(environment?.rawValue ?? "unknown") is not configured")
          .keeping(envelope.bytes, secretOf: [app.bundleId])
      }
      return .v1(
        body, value: envelope.bytes, bundleId: app.bundleId, passwordPlace: envelope.passwordPlace)
    case .noApp(let secretOf):
      throw refusal(.appNotConfigured, "the secret is right, the app \(bundleId ?? "(none named)") is not configured")
        .keeping(envelope.bytes, secretOf: secretOf)
    }
  }

  private func refusal(_ reason: Refusal.Reason, _ message: String) -> Refusal {
    Refusal(reason, unverifiable == .retry ? .retryLater : .unauthorized, message, isWorthKeeping: true)
  }
}

/// A notification that Apple is known to have made.
public enum AdmittedNotification: Sendable {
  /// Version 2, verified, with the JWS exactly as signed.
  case v2(VerifiedNotification, jws: [UInt8])
  /// Version 1, whose secret was right, its body without `password`, and where that stood, as far as it is known.
  case v1(ResponseBodyV1, value: [UInt8], bundleId: String, passwordPlace: ResponseBodyV1.PasswordPlace? = nil)

  /// The record that keeps it.
  public func record(
    origin: NotificationOrigin, traceParent: TraceParent?, receivedAt: Timestamp, router: NotificationRouter
  ) -> NotificationRecord {
    switch self {
    case .v2(let verified, let jws):
      .v2(
        jws: jws, payload: verified.payload, transaction: verified.transaction, renewalInfo: verified.renewalInfo,
        appTransaction: verified.appTransaction, origin: origin, traceParent: traceParent, router: router)
    case .v1(let body, let value, let bundleId, let passwordPlace):
      .v1(
        value: value, body: body, bundleId: bundleId, passwordPlace: passwordPlace, receivedAt: receivedAt,
        origin: origin,
        traceParent: traceParent, router: router)
    }
  }

  /// What ``typeLabel`` says of a type that Apple does not document.
  public static let unknownTypeLabel = "unknown"

  /// The notification's type as Apple spells it, for counting; ``unknownTypeLabel`` for one that Apple does not
  /// document, so that nobody can make labels without end.
  public var typeLabel: String {
    switch self {
    case .v2(let verified, _):
      verified.payload.notificationType.flatMap { $0.isKnown ? $0.rawValue : nil } ?? Self.unknownTypeLabel
    case .v1(let body, _, _, _):
      body.notification_type.flatMap { $0.isKnown ? $0.rawValue : nil } ?? Self.unknownTypeLabel
    }
  }
}
