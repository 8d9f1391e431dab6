// The models as the Kafka of a schedule.

internal import CSimulation
internal import KafkaClient
internal import MillraceRecords

final class SimulatedKafka: Kafka, @unchecked Sendable {
  private let cluster: Cluster
  let log: any RecordLog
  private let held: HeldRequest?
  private let nodes: ClosedRange<Int> = 0...Cluster.nodeCount - 1

  private init(_ cluster: Cluster, _ held: HeldRequest?) {
    (self.cluster, self.held) = (cluster, held)
    log = SimulatedLog(cluster: cluster, process: .current, name: "s")
  }

  /// Plays a schedule in this process of the machine. Call it once.
  static func report(of schedule: Schedule, seed: UInt64) -> [String] {
    let policy = seed.isMultiple(of: 2) ? SIMULATION_RANDOM : SIMULATION_PRIORITIES
    let end = Reply<[String]>()
    return Simulation.run(seed: seed, policy: policy, mostJobs: 1_000_000) { () async -> [String] in
      let network = Network()
      network.scripted = schedule.hold.map(HeldRequest.init)
      let cluster = Cluster(network: network, timeline: Timeline(isKept: false))
      Simulation.inside(Simulation.ProcessID(number: simulation_new_process())) {
        let kafka = SimulatedKafka(cluster, network.scripted)
        Task { end.resolve(await Stage.report(of: schedule, on: kafka, prefix: "s")) }
      }
      return await end.wait()
    } ?? ["the schedule did not end"]
  }

  func create(_ topic: String, partitions: Int) { cluster.create(topic, partitions: partitions) }
  func recreate(_ topic: String) { cluster.recreate(topic) }
  func wait(_ duration: Duration) async { await pause(duration) }
  func hold(_ isHolding: Bool) { held?.isArmed = isHolding }

  func heldAnswer() async -> String? {
    for _ in 0..<600 where held?.hasArrived != true { await pause(.milliseconds(100)) }
    return held?.hasArrived == true ? held?.answer : "not within a minute"
  }

  func stopNode(of place: Place) async {
    guard let node = self.node(of: place) else { return }
    cluster.stop(node)
    while self.node(of: place) ?? node == node { await pause(.milliseconds(100)) }
  }

  func startNodes() { for node in nodes { cluster.start(node) } }

  func silence(_ duration: Duration) async {
    cluster.network.quietUntil = Simulation.worldTime + duration
    await pause(duration)
  }

  private func node(of place: Place) -> Int? {
    switch place {
    case .group(let name), .transactions(let name): cluster.coordinator(of: name)
    case .leader(let partition): cluster.leader(of: partition)
    }
  }
}

/// A request that a schedule holds back, by the rule of kafka-delay.
final class HeldRequest: @unchecked Sendable {
  private let rule: Schedule.Hold
  var isArmed = false
  private(set) var hasArrived = false
  private(set) var answer: String?
  private var client: String?
  private var isRepeated = false
  private var answers = 0
  private var arrive: (() -> Void)?

  init(_ rule: Schedule.Hold) { self.rule = rule }

  /// - Returns: Whether this request is the one to hold.
  func takes(_ kind: RequestKind, of client: String) -> Bool {
    guard isArmed, kind == rule.kind, self.client == nil else { return false }
    self.client = client
    return true
  }

  /// - Parameter arrive: Delivers the request to its broker.
  func hold(_ arrive: @escaping () -> Void) {
    self.arrive = arrive
    if case .atOnce = rule.release { release() }
  }

  /// The broker has answered the held request.
  func arrived<Value>(_ result: Result<Value, BrokerError>) {
    hasArrived = true
    // kafka-delay reads only these answers.
    guard [.endTransaction, .addOffsets].contains(rule.kind) else { return }
    answer = if case .failure(let error) = result { error.description } else { "NONE" }
  }

  /// Called before an answer goes to a client.
  func answered(_ kind: RequestKind, of client: String) {
    guard client == self.client, kind.isTransactional || kind == .initProducerID else { return }
    guard isRepeated else {
      isRepeated = kind == rule.kind
      return
    }
    answers += 1
    if case .afterAnswers(let count) = rule.release, answers >= count { release() }
  }

  private func release() {
    arrive?()
    arrive = nil
  }
}
