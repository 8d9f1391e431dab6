// Everything the API consists of, without a port: what tests and the server share.

public import AppStore
public import Clocks

/// The App Store Server API on top of a world.
public final class APIServices: Sendable {
  /// The settings it was made with.
  public let settings: SimulatorSettings
  let pipeline: RequestPipeline
  let gate: Gatekeeper
  private let refunds: RefundDesk
  private let extensions: ExtensionDesk
  private let world: World

  /// The API of a world.
  ///
  /// - Parameters:
  ///   - clock: the world's time.
  ///   - reachable: the apps and environments with a URL for notifications; nil: all. The others can request no test.
  /// - Throws: when the public key of an app is no P-256 key in PEM.
  public init(
    world: World, signatory: Signatory, settings: SimulatorSettings, clock: MillraceClock,
    reachable: Set<RealmID>? = nil
  ) throws {
    self.settings = settings
    self.world = world
    gate = Gatekeeper(settings)
    extensions = ExtensionDesk(world, settings.massExtension, seed: settings.seed)
    refunds = RefundDesk(world, settings.refunds, seed: settings.seed)
    let endpoints = APIEndpoints(
      world: world, signatory: signatory, gate: gate, tokens: PageTokens(seed: settings.seed),
      paginationTokenLifetime: settings.paginationTokenLifetime, extensions: extensions, refundDesk: refunds,
      messaging: MessagingDesk(settings.messaging, seed: settings.seed), reachable: reachable)
    let apps = world.withState { state in state.realms.map(\.app) }
    pipeline = RequestPipeline(settings, apps: try AppDirectory(apps), endpoints: endpoints, clock: clock)
  }

  /// A customer wants money back: Apple sends CONSUMPTION_REQUEST, waits for consumption information and decides.
  ///
  /// - Throws: ``WorldError`` when there is no such purchase or it cannot be refunded.
  public func customerAsksForRefund(
    of transactionId: Int64, reason: ConsumptionRequestReason = .unintendedPurchase, at now: Timestamp
  ) throws(WorldError) {
    try refunds.customerAsks(transactionId, reason: reason, at: now)
  }

  /// The team asks for a mass extension, without a call.
  /// - Returns: what is wrong with the request; nil where its job has begun.
  func teamAsksForMassExtension(_ body: JSONObject, realm: RealmID, at now: Timestamp) -> String? {
    do throws(APIFailure) {
      extensions.open(try MassExtensionRequest(body), realm: realm, at: now)
      return nil
    } catch {
      return error.message
    }
  }

  /// The order number that the customer's receipt shows; nil when there is no such transaction.
  func orderNumber(of transactionId: Int64) -> String? {
    world.withState { state in state.transactions[transactionId].map { OrderID.text($0.orderId) } }
  }

  /// Adds a fault.
  /// - Returns: the number by which it is taken away.
  @discardableResult
  public func inject(_ fault: Fault) -> Int { gate.withGate { $0.faults.add(fault) } }

  /// Takes a fault away; false when there is none of that number.
  @discardableResult
  public func removeFault(_ id: Int) -> Bool { gate.withGate { $0.faults.remove(id) } }
}
