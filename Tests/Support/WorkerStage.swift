// A deployment of one worker inside a test: the simulated App Store, an in-memory log, and any number of processes. The
// tests of each worker extend it with their own products, purchases and checks.

package import AppStore
package import AppStoreServerAPI
package import AppStoreSimulator
internal import KafkaClient
internal import Logging
package import MillraceCore
package import MillraceRecords
package import MillraceTesting
package import MillraceTime
package import MillraceWorker
internal import Synchronization

/// A deployment of a worker. `Network` sends the requests of its processes.
package final class WorkerStage<Worker: NotificationWorker, Network: HTTPExchange>: Sendable {
  /// The bundle identifier of the app.
  package static var bundleId: String { StagedAppStore.bundleId }

  /// The App Store, which several stages may share.
  package let store: StagedAppStore
  /// Sends the requests of the processes.
  package let network: Network
  /// The log as seen by the test.
  package let log: InMemoryLog
  /// The names of the worker's topics.
  package let topics: WorkerTopics
  /// The configuration of the processes.
  package let configuration: MillraceConfiguration
  /// The settings of the worker's retries, commits and handlers.
  package let policy: WorkerPolicy
  let lanes: Int
  let settings: (any WorkerSettings)?
  let router: NotificationRouter
  let state = Mutex(WorkerStageState())

  /// Creates the topics of a worker. Notifications go to the topic of `family`.
  ///
  /// - Parameters:
  ///   - settings: The worker's own settings. If nil, the configuration has them.
  ///   - change: Changes the configuration, which names the app and its key.
  ///   - partitions: Changes the topics and their numbers of partitions. Topics other than the lanes' have one.
  package init(
    _ store: StagedAppStore, network: Network, family: NotificationFamily, lanes: Int,
    policy: WorkerPolicy = Worker.policy, settings: (any WorkerSettings)? = nil,
    configuration change: (inout MillraceConfiguration) throws -> Void = { _ in },
    topics partitions: (inout [String: Int]) -> Void = { _ in }
  ) throws {
    (self.store, self.network, self.lanes, self.settings) = (store, network, lanes, settings)
    var configuration = store.configuration
    try change(&configuration)
    self.configuration = configuration
    var policy = policy
    // Time does not pass by itself, so a commit must not wait for its batch to fill.
    policy.commitInterval = .zero
    self.policy = policy
    router = try NotificationRouter([TopicDefinition(name: family.topic, notifications: .init(unrecognized: true))])
    topics = WorkerTopics(Worker.self, configuration, policy)
    var counts: [String: Int] = [:]
    for name in topics.others + topics.outputTopics { counts[name] = 1 }
    for name in topics.laneTopics { counts[name] = lanes }
    partitions(&counts)
    log = InMemoryLog(clock: store.clock)
    for (name, count) in counts { try log.createTopic(name, partitions: count) }
  }

  /// The clock that the test advances.
  package var time: ManualClock { store.time }
  /// The clock of the App Store and the processes.
  package var clock: MillraceClock { store.clock }
  /// The present time.
  package var now: Timestamp { store.clock.wallTime }
  /// The state of the App Store.
  package var world: World { store.world }
  /// The App Store Server API.
  package var services: APIServices { store.services }
  /// The calls to the App Store Server API.
  package var appStore: SimulatedExchange { store.exchange }

  /// Returns a client like the command line's, by default with a budget that never delays it.
  /// - Parameter exchange: Sends the requests; nil for the App Store's.
  package func client(
    _ budget: APIBudget? = nil, over exchange: (any HTTPExchange)? = nil
  ) throws -> AppStoreServerClient {
    let app = configuration.apps[0]
    guard let credentials = try app.credentials(under: "apps[0].api") else {
      throw MillraceError(.configuration, "the app has no credentials", at: "apps[0].api", remedy: "give it a key")
    }
    return AppStoreServerClient(
      credentials: credentials, appAppleId: app.appAppleId, environments: app.environments,
      baseURLs: APIBaseURLs(production: SimulatedExchange.productionURL, sandbox: SimulatedExchange.sandboxURL),
      verifier: store.verifier, exchange: exchange ?? store.exchange,
      budget: budget ?? APIBudget(limits: .divided(by: 0.001), clock: clock), clock: clock, logger: .quiet)
  }
}
