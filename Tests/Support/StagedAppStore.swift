// The simulated App Store as stages of workers have it: one app, a key that may call the API, a chain that signs.

package import AppStore
package import AppStoreSignature
package import AppStoreSigning
package import AppStoreSimulator
package import Clocks
internal import Crypto
package import Millrace

/// A simulated App Store with one app in it.
package struct StagedAppStore: Sendable {
  /// What happens in it.
  package let world: World
  /// Its API.
  package let services: APIServices
  /// Signs what it tells.
  package let signatory: Signatory
  /// What it signs with.
  package let chain: SigningChain
  /// The key to its API as App Store Connect gives it out; its names are `Scenario.madeKey`.
  package let privateKey: String
  private let clock: MillraceClock

  /// An App Store in which nothing has happened.
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
        AppStoreSimulator.APICredentials(
          issuerId: names.issuerId, keyId: names.keyId, publicKeyPEM: key.publicKey.pemRepresentation)
      ], products: products)
    world = World(apps: [app], seed: seed, beginning: origin)
    chain = try SigningChain.generate(at: origin, seed: seed)
    signatory = Signatory(RotatingLeaves(chain, origin: origin, interval: nil))
    services = try APIServices(world: world, signatory: signatory, settings: settings, clock: clock)
    privateKey = key.pemRepresentation
    self.clock = clock
  }

  /// Takes what this App Store signs, and nothing else.
  package func verifier() throws -> SignedDataVerifier {
    var verification = SignedDataVerifier.Configuration()
    verification.trustedRoots = [chain.rootDER]
    verification.now = { [clock] in clock.wallTime }
    return try SignedDataVerifier(verification)
  }

  /// What the ingress writes of a notification. The signatures are not looked at here: the worker does, once more.
  package static func received(
    _ jws: [UInt8], router: NotificationRouter
  ) throws -> Millrace.NotificationRecord {
    let payload = ResponseBodyV2DecodedPayload(json: try UnverifiedToken(parsing: jws).payload)
    let transaction = try payload.data?.signedTransactionInfo.map {
      JWSTransactionDecodedPayload(json: try UnverifiedToken(parsing: Array($0.utf8)).payload)
    }
    return Millrace.NotificationRecord.v2(
      jws: jws, payload: payload, transaction: transaction, renewalInfo: nil, appTransaction: nil, origin: .post,
      traceParent: nil, router: router)
  }
}
