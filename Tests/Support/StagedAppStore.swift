// The simulated App Store of the workers' tests: one app, a key for the API and a signing chain.

package import AppStore
package import AppStoreSignature
package import AppStoreSigning
package import AppStoreSimulator
package import MillraceTime
internal import Crypto
package import MillraceRecords

/// A simulated App Store with one app in it.
package struct StagedAppStore: Sendable {
  /// The state of the simulated App Store.
  package let world: World
  /// The simulated App Store Server API.
  package let services: APIServices
  /// Signs the notifications and API responses.
  package let signer: NotificationSigner
  /// The certificate chain of the signatures.
  package let chain: SigningChain
  /// The API key in the format of App Store Connect. `Scenario.madeKey` has its issuer ID and key ID.
  package let privateKey: String
  private let clock: MillraceClock

  /// Creates an App Store without purchases or notifications.
  package init(
    bundleId: String, environments: [AppStoreEnvironment] = [.production], products: [AppStoreSimulator.Product],
    settings: SimulatorSettings, clock: MillraceClock
  ) throws {
    let (origin, seed) = (clock.wallTime, settings.seed)
    let key = P256.Signing.PrivateKey()
    let names = Scenario.madeKey
    let app = SimulatedApp(
      bundleId: bundleId, appAppleId: 1_234_567_890, environments: environments,
      credentials: [
        PublicAPIKey(
          issuerId: names.issuerId, keyId: names.keyId, publicKeyPEM: key.publicKey.pemRepresentation)
      ], products: products)
    world = World(apps: [app], seed: seed, beginning: origin)
    chain = try SigningChain.generate(at: origin, seed: seed)
    signer = NotificationSigner(RotatingLeaves(chain, origin: origin, interval: nil))
    services = try APIServices(world: world, signer: signer, settings: settings, clock: clock)
    privateKey = key.pemRepresentation
    self.clock = clock
  }

  /// Returns a verifier that accepts only data signed by this App Store.
  package func verifier() throws -> SignedDataVerifier {
    var verification = SignedDataVerifier.Configuration()
    verification.trustedRoots = [chain.rootDER]
    verification.now = { [clock] in clock.wallTime }
    return try SignedDataVerifier(verification)
  }

  /// Returns the record that the ingress writes for a notification. Does not verify signatures; the worker does that.
  package static func received(
    _ jws: [UInt8], router: NotificationRouter
  ) throws -> NotificationRecord {
    let payload = ResponseBodyV2DecodedPayload(json: try UnverifiedToken(parsing: jws).payload)
    let transaction = try payload.data?.signedTransactionInfo.map {
      JWSTransactionDecodedPayload(json: try UnverifiedToken(parsing: Array($0.utf8)).payload)
    }
    return NotificationRecord.v2(
      jws: jws, payload: payload, transaction: transaction, renewalInfo: nil, appTransaction: nil, origin: .post,
      traceParent: nil, router: router)
  }
}
