// The API without its HTTP listeners, shared by the server and the tests.

package import AppStore
package import MillraceTime

/// The App Store Server API for a world.
package final class APIServices: Sendable {
  /// The settings of the API.
  package let settings: SimulatorSettings
  let pipeline: RequestPipeline
  let gate: Gatekeeper
  private let refunds: RefundService
  private let extensions: ExtensionService
  private let world: World

  /// Creates the API for a world.
  ///
  /// - Parameters:
  ///   - clock: the world's time.
  ///   - reachable: the apps and environments that have a URL for notifications; nil for all. The others cannot request
  ///     a test
  ///     notification.
  /// - Throws: an error if an app's public key is not a P-256 key in PEM.
  package init(
    world: World, signer: NotificationSigner, settings: SimulatorSettings, clock: MillraceClock,
    reachable: Set<RealmID>? = nil
  ) throws {
    self.settings = settings
    self.world = world
    gate = Gatekeeper(settings)
    extensions = ExtensionService(world, settings.massExtension, seed: settings.seed)
    refunds = RefundService(world, settings.refunds, seed: settings.seed)
    let endpoints = APIEndpoints(
      world: world, signer: signer, gate: gate, tokens: PageTokens(seed: settings.seed),
      paginationTokenLifetime: settings.paginationTokenLifetime, extensions: extensions, refundDesk: refunds,
      messaging: MessagingService(settings.messaging, seed: settings.seed), reachable: reachable)
    let apps = world.withState { state in state.realms.map(\.app) }
    pipeline = RequestPipeline(settings, apps: try AppDirectory(apps), endpoints: endpoints, clock: clock)
  }

  /// Requests a refund on behalf of a customer. Apple sends CONSUMPTION_REQUEST, waits for consumption information and
  /// decides.
  ///
  /// - Throws: ``WorldError`` if the purchase does not exist or cannot be refunded.
  package func customerAsksForRefund(
    of transactionId: Int64, reason: ConsumptionRequestReason = .unintendedPurchase, at now: Timestamp
  ) throws(WorldError) {
    try refunds.customerAsks(transactionId, reason: reason, at: now)
  }

  /// Requests a mass extension on behalf of the team, without an API call.
  ///
  /// - Returns: the problem with the request; nil if the job has started.
  func teamAsksForMassExtension(_ body: JSONObject, realm: RealmID, at now: Timestamp) -> String? {
    do throws(APIFailure) {
      extensions.open(try MassExtensionRequest(body), realm: realm, at: now)
      return nil
    } catch {
      return error.message
    }
  }

  /// The order identifier on the customer's receipt; nil if there is no such transaction.
  func orderNumber(of transactionId: Int64) -> String? {
    world.withState { state in state.transactions[transactionId].map { OrderID.text($0.orderId) } }
  }

  /// Adds a fault.
  ///
  /// - Returns: the identifier with which ``removeFault(_:)`` removes it.
  @discardableResult
  package func inject(_ fault: Fault) -> Int { gate.withGate { $0.faults.add(fault) } }

  /// Removes a fault. Returns false if there is no fault with this identifier.
  @discardableResult
  package func removeFault(_ id: Int) -> Bool { gate.withGate { $0.faults.remove(id) } }
}
