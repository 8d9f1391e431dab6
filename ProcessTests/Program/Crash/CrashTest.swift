// One worker under crashes: a deployment, the worker's processes, and the notifications that are sent to them.

import AppStore
import AppStoreSigning
import Foundation
import KafkaClient
import MillraceRecords
import MillraceTesting
import Operations
import ScenarioRig
import Synchronization

actor CrashTest {
  static let worker = CrashWorker.name

  nonisolated let deployment: Deployment
  nonisolated let topics: WorkerTopics
  /// The three nodes that `faults` kills and pauses; nil if there are none.
  nonisolated let nodes: KafkaNodes?
  nonisolated let observer = TopicObserver(CrashEvents())
  nonisolated let endpoint: CountingEndpoint
  nonisolated let workers: WorkerGroup

  private let name: String
  private let environment: [String: String]
  private var fixtures: NotificationFixtures
  private var random: SeededGenerator
  /// Whether each sent notification has an effect.
  private(set) var sent: [String: Bool] = [:]
  /// The notifications that the operator discarded. They must have no effect.
  private(set) var discarded: Set<String> = []
  /// Problems during the run, such as processes that ended unexpectedly.
  private(set) var problems: [String] = []
  /// Whether a notification currently kills its handler's process, and the number of processes it has killed.
  private var isPoisoned = false
  private(set) var poisonings = 0

  private init(
    _ scenario: CrashScenario, _ deployment: Deployment, _ nodes: KafkaNodes?, fixtures: NotificationFixtures,
    endpoint: CountingEndpoint, url: String, name: String, seed: UInt64
  ) {
    (self.deployment, self.nodes, self.fixtures) = (deployment, nodes, fixtures)
    (self.endpoint, self.name) = (endpoint, name)
    var environment = ["CRASH_ENDPOINT": url]
    // The operated worker reports each run to the endpoint, and its metrics are read.
    if scenario == .operate { environment["CRASH_ASKS"] = "yes" }
    self.environment = environment
    workers = WorkerGroup(
      Self.worker, .scenario(CrashWorker.subcommand), of: deployment, log: "worker", environment: environment,
      hasAdminPort: [.operate, .faults, .outage].contains(scenario))
    topics = Self.topics(of: deployment)
    random = SeededGenerator(seed: seed)
  }

  /// Runs a scenario with its own deployment and ends all processes afterwards.
  static func run(
    _ scenario: CrashScenario, number: Int, rounds: Int, lanes: Int?, seed: UInt64, _ rig: Rig, _ nodes: KafkaNodes?
  ) async throws -> CrashVerdict {
    let name = "\(scenario.rawValue)-\(number)"
    let fixtures = try NotificationFixtures(from: now, seed: seed)
    var size = scenario.size
    size.lanes = lanes ?? size.lanes
    let deployment = try await deploy(size, name, fixtures.chain, fixtures.app, rig)
    defer { deployment.end() }
    let endpoint = CountingEndpoint(seed: seed)
    return try await endpoint.serving { url in
      let test = CrashTest(
        scenario, deployment, nodes, fixtures: fixtures, endpoint: endpoint, url: url, name: name, seed: seed)
      return try await ScenarioRig.run {
        try await ScenarioRig.run {
          do {
            return try await test.run(scenario, rounds: rounds, seed: seed)
          } catch let error as RunError {
            // Now, because what follows reads from the cluster, and may take longer than the run has left.
            ScenarioRig.say("\(name): \(error)")
            let notes = await Array(test.problems.prefix(5)) + test.unsettled()
            throw RunError("\(name): \(error)\(notes.map { "\n    \($0)" }.joined())")
          }
        } thenAlways: {
          endpoint.release()
          await test.workers.killAll()
        }
      } beside: {
        try await test.observer.follow([test.topics.events, test.topics.deadLetters], of: deployment)
      }
    }
  }

  static func topics(of deployment: Deployment) -> WorkerTopics {
    WorkerTopics(
      worker: worker, inputs: [NotificationFamily.subscriptions, .tests].map { deployment.prefix + $0.topic },
      delays: retryDelays, prefix: deployment.prefix)
  }

  /// Prints a line for the person who runs the test.
  nonisolated func say(_ line: String) { ScenarioRig.say("\(name): \(line)") }

  private static var now: Timestamp {
    Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1_000))
  }

  // MARK: - Notifications

  /// Writes notifications as the ingress does. Half are renewals, some of one subscription, and half of those fail on
  /// the first attempt.
  func send(_ count: Int) async throws {
    var records: [ProducerRecord] = []
    for _ in 0..<count {
      let (fixture, hasEffect) = try await next()
      sent[fixture.id] = hasEffect
      records.append(fixture.producerRecord)
    }
    try await deployment.log.append(records)
  }

  /// The next notification, signed now, and whether the worker calls the endpoint for it. Not safe for concurrent
  /// calls.
  /// - Parameter isTest: Whether to choose one without an effect that is handled at once.
  func next(isTest: Bool = false) async throws -> (NotificationFixture, hasEffect: Bool) {
    var (fixtures, random) = (self.fixtures, self.random)
    let dice = isTest ? 0 : Int.random(in: 0..<8, using: &random)
    let kind = SampleKind(dice < 4 ? .test : dice < 6 ? .didRenew : .didFailToRenew)
    let family = dice < 4 ? NotificationFamily.tests : .subscriptions
    let subscription = Int.random(in: 100..<120, using: &random)
    // The signing time, from which the timer counts.
    let fixture = try await fixtures.next(kind, signedDate: Self.now, to: deployment.prefix + family.topic) { draft in
      if dice == 4 { draft.setOriginalTransactionId("2000000000000\(subscription)") }
    }
    (self.fixtures, self.random) = (fixtures, random)
    return (fixture, dice >= 4)
  }

  /// Adds notifications that are already in Kafka.
  func expect(_ found: [String: Bool]) { sent.merge(found) { $1 } }

  /// Marks a notification as discarded.
  func discard(_ id: String) { discarded.insert(id) }

  /// Records a violated guarantee.
  func fault(_ sentence: String) { problems.append(sentence) }

  // MARK: - Processes

  /// A group of one process with a name that the worker's Kafka group knows. The test does not restart it.
  /// - Parameter log: The name of its logs, if two processes have the name.
  func place(_ index: Int, isNamed: Bool, log: String? = nil, hasAdminPort: Bool = false) -> WorkerGroup {
    var environment = environment
    environment["MILLRACE_KAFKA_INSTANCE"] = isNamed ? "place-\(index)" : nil
    return WorkerGroup(
      Self.worker, .scenario(CrashWorker.subcommand), of: deployment, log: log ?? "place-\(index)",
      environment: environment, hasAdminPort: hasAdminPort)
  }

  /// Makes the effect of a notification kill the calling process while `body` runs.
  func poisoning(_ id: String, _ body: () async throws -> Void) async throws {
    endpoint.poison(Findings.effect(of: id))
    isPoisoned = true
    defer {
      endpoint.heal()
      isPoisoned = false
    }
    try await body()
  }

  /// Restarts processes that ended unexpectedly, like a supervisor.
  func keep() async throws {
    for ended in try await workers.restartEnded() {
      if isPoisoned, ended.end == .killed {
        poisonings += 1
      } else {
        problems.append("a process ended by itself with \(ended.end): \(ended.log)")
      }
    }
  }

  // MARK: - Waiting

  /// Waits until a condition holds. Restarts processes that end meanwhile.
  func wait(for what: String, until holds: nonisolated(nonsending) () async throws -> Bool) async throws {
    try await deployment.wait(
      for: what,
      state: {
        let open = sent.keys.filter { !observer.answered.contains($0) }
        return "; \(open.count) of \(sent.count) notifications have no event"
      }, betweenChecks: { try await keep() }, until: holds)
  }

  /// Waits until everything is handled: an event for each notification and timer, and a matching ledger. Requeues the
  /// notifications that were blamed for a crash, as an operator would.
  func settle() async throws {
    let operations = try WorkerOperations(
      worker: Self.worker, prefix: deployment.prefix, on: deployment.log, author: "crash")
    let ids = Set(sent.keys).subtracting(discarded)
    let timers = Set(sent.filter(\.value).keys).subtracting(discarded)
    try await wait(for: "every notification to be answered") {
      func isDone() -> Bool {
        ids.isSubset(of: observer.answered.union(observer.dead))
          && timers.isSubset(of: observer.reminded.union(observer.dead))
      }
      if !isDone(), nodes != nil { try await readAgain() }
      return isDone()
    }
    let letters = try await operations.deadLetters(isOpenOnly: true)
    if !letters.isEmpty {
      say("\(letters.count) dead letters requeued: \(Set(letters.map(\.reason)).sorted().joined(separator: ", "))")
      _ = try await operations.requeue(
        letters.map(\.id), why: "killed by scripts/scenario crash", patience: .seconds(60)
      ) { _ in
      }
    }
    try await wait(for: "every notification to have an event") { ids.isSubset(of: observer.answered) }
    try await wait(for: "every timer to fire") { timers.isSubset(of: observer.reminded) }
    try await wait(for: "the ledger to say so") {
      try await Task.sleep(for: .milliseconds(200))
      return try await findings().unfinished.isEmpty
    }
  }

  /// Reads all events and dead letters with new clients. After faults of brokers, the observer's consumer may have
  /// stopped fetching a partition (librdkafka 2.0.2), and the verdict is about the workers.
  private func readAgain() async throws {
    for topic in [topics.events, topics.deadLetters] {
      observer.take(try await deployment.log.everything(in: [topic]))
    }
  }

  // MARK: - Findings

  /// The ids that are missing or there twice, if a run cannot go on.
  private func unsettled() async -> [String] {
    do {
      var findings = try await findings()
      for record in try await deployment.log.everything(in: topics.retries) {
        if let id = record.text("ce_id") { findings.delayed.insert(id) }
      }
      return faultLines(findings.unsettled, upTo: 20) { $0 }
    } catch {
      return ["could not read what is missing: \(error)"]
    }
  }

  /// The records that the worker has not committed, as sentences.
  func lag() async throws -> [String] {
    let partitions = try await deployment.log.partitions(of: topics.sources)
    let committed = try await KafkaConsumer(deployment.kafka, subscription: .group(topics.group, topics: []))
      .committed(partitions, timeout: .seconds(30))
    let offsets = Dictionary(committed.map { ($0.partition, $0.offset) }) { $1 }
    var lag: [String] = []
    for (partition, range) in try await deployment.log.highWatermarks(of: partitions, timeout: .seconds(30)) {
      let start = max(offsets[partition] ?? 0, range.lowerBound)
      guard start < range.upperBound else { continue }
      // The end of a transaction also has an offset.
      let left = Mutex(0)
      try await deployment.log.scan(partition, from: .offset(start), to: .highWatermark, upTo: 1_000) { page in
        left.withLock { $0 += page.count }
      }
      let count = left.withLock { $0 }
      if count > 0 { lag.append("\(count) records of \(partition) after the committed offset \(start)") }
    }
    return lag
  }

  func findings() async throws -> Findings {
    let log = deployment.log
    var findings = Findings()
    (findings.sent, findings.discarded) = (sent, discarded)
    findings.effects = endpoint.effects
    // First the ledger: what it says is done has its events, which were committed with it.
    for record in try await log.everything(in: [topics.ledger]) { findings.takeLedger(record) }
    for record in try await log.everything(in: [topics.events]) { findings.take(record) }
    for record in try await log.everything(in: [topics.deadLetters]) {
      guard let letter = DeadLetter(record.headers), let id = record.text("ce_id") ?? record.text("millrace-timer")
      else { continue }
      findings.deadLetters[id] = letter.reason
    }
    findings.trimmed = try await log.trimmed(of: topics.laneTopics + [topics.events, topics.operations])
      .map { "\($0)" }
    return findings
  }
}
