// The simulated App Store of the workers' tests: one app, a key for the API, a signing chain, and the files that a
// deployment needs to call it.

package import AppStore
package import AppStoreSignature
package import AppStoreSigning
package import AppStoreSimulator
internal import Crypto
internal import Foundation
package import MillraceCore
internal import MillraceTesting
package import MillraceTime

/// A simulated App Store with one app in it. Its files exist as long as it does.
package final class StagedAppStore: Sendable {
  /// The bundle identifier of the app.
  package static let bundleId = "com.example.app"

  /// The clock that the test advances.
  package let time = ManualClock()
  /// The clock of the App Store: ``time``, unless the test gave another one.
  package let clock: MillraceClock
  /// The time when the simulation began.
  package let origin: Timestamp
  /// The state of the simulated App Store.
  package let world: World
  /// The simulated App Store Server API.
  package let services: APIServices
  /// Calls the simulated API without sockets.
  package let exchange: SimulatedExchange
  /// Signs the notifications and API responses.
  package let signer: NotificationSigner
  /// The certificate chain of the signatures.
  package let chain: SigningChain
  /// Accepts only data signed by this App Store.
  package let verifier: SignedDataVerifier
  /// The configuration of a deployment with the app and its API key.
  package let configuration: MillraceConfiguration
  private let directory: URL

  /// Creates an App Store without purchases or notifications.
  /// - Parameter age: The time that has passed since the simulation began.
  package init(
    environments: [AppStoreEnvironment] = [.production], products: [AppStoreSimulator.Product],
    behaviour: Behaviour = Behaviour(), settings: SimulatorSettings = SimulatorSettings(), age: Duration = .zero,
    clock given: MillraceClock? = nil
  ) throws {
    let clock = given ?? time.clock
    self.clock = clock
    origin = clock.wallTime - age
    let key = P256.Signing.PrivateKey()
    let names = Scenario.madeKey
    let app = SimulatedApp(
      bundleId: Self.bundleId, appAppleId: 1_234_567_890, environments: environments,
      credentials: [
        PublicAPIKey(
          issuerId: names.issuerId, keyId: names.keyId, publicKeyPEM: key.publicKey.pemRepresentation)
      ], products: products)
    world = World(apps: [app], seed: settings.seed, behaviour: behaviour, beginning: origin)
    chain = try SigningChain.generate(at: origin, seed: settings.seed)
    signer = NotificationSigner(RotatingLeaves(chain, origin: origin, interval: nil))
    services = try APIServices(world: world, signer: signer, settings: settings, clock: clock)
    exchange = SimulatedExchange(services)
    var verification = SignedDataVerifier.Configuration()
    verification.trustedRoots = [chain.rootDER]
    verification.now = { clock.wallTime }
    verifier = try SignedDataVerifier(verification)
    directory = FileManager.default.temporaryDirectory.appending(path: "app-store-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let keyFile = directory.appending(path: "apple.p8")
    try Data(key.pemRepresentation.utf8).write(to: keyFile)
    var configuration = MillraceConfiguration.calling(
      bundleId: Self.bundleId, key: names, keyFile: keyFile.path, production: SimulatedExchange.productionURL,
      sandbox: SimulatedExchange.sandboxURL)
    configuration.apps[0].environments = environments
    self.configuration = configuration
  }

  deinit {
    do { try FileManager.default.removeItem(at: directory) } catch { print("left behind: \(directory.path)") }
  }

  /// Writes a file and returns its path.
  package func file(_ name: String, _ content: [UInt8]) throws -> String {
    let file = directory.appending(path: name)
    try Data(content).write(to: file)
    return file.path
  }
}
