// Runs the processes of a worker and sends notifications to them.

import AppStore
import AppStoreSigning
import Foundation
import KafkaClient
import MillraceRecords
import MillraceTesting
import Operations
import Processes
import MillraceCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

actor CrashTest {
  nonisolated let deployment: Deployment
  nonisolated let observer = Observer()
  nonisolated let world: CrashEnvironment
  /// Prints a line for the person who runs the test.
  nonisolated let say: @Sendable (String) -> Void

  private let url: String
  private var fixtures: NotificationFixtures
  private var random: SeededGenerator
  private var started = 0
  private(set) var workers: [Child] = []
  /// Whether each sent notification has an effect.
  private(set) var sent: [String: Bool] = [:]
  /// The notifications that the operator discarded. They must have no effect.
  private(set) var discarded: Set<String> = []
  /// The metrics URL of the worker in the `operate` scenario; nil in the others, which run several workers.
  private(set) var metrics: String?
  /// Problems during the run, such as processes that ended unexpectedly.
  private(set) var surprises: [String] = []
  /// Whether a notification currently kills its handler's process, and the number of processes it has killed.
  private var isPoisoned = false
  private(set) var poisonings = 0

  private init(
    _ deployment: Deployment, fixtures: NotificationFixtures, world: CrashEnvironment, url: String, seed: UInt64,
    say: @escaping @Sendable (String) -> Void
  ) {
    (self.deployment, self.fixtures, self.world, self.url, self.say) = (deployment, fixtures, world, url, say)
    random = SeededGenerator(seed: seed)
  }

  /// Runs `body` with its own deployment and ends all processes afterwards.
  static func run<Result: Sendable>(
    _ name: String, _ size: Deployment.Size, seed: UInt64, tools: Tools, say: @escaping @Sendable (String) -> Void,
    _ body: @escaping @Sendable (CrashTest) async throws -> Result
  ) async throws -> Result {
    let fixtures = try NotificationFixtures(from: now, seed: seed)
    let deployment = try await Deployment(
      name, size, prefix: "\(tools.prefix)\(name)-\(String(UInt64.random(in: .min ... .max), radix: 36)).",
      chain: fixtures.chain, app: fixtures.app, tools: tools)
    defer { deployment.end() }
    let world = CrashEnvironment(seed: seed)
    return try await world.serving { url in
      let mill = CrashTest(
        deployment, fixtures: fixtures, world: world, url: url, seed: seed, say: { say("\(name): \($0)") })
      let visible = try await deployment.log.partitions(of: [deployment.topics.events, deployment.topics.deadLetters])
      return try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask {
          try await deployment.kafka.follow(visible) { mill.observer.take($0) }
          return nil
        }
        group.addTask {
          do {
            let result = try await body(mill)
            await mill.killAll()
            return result
          } catch {
            await mill.killAll()
            throw error
          }
        }
        defer { group.cancelAll() }
        while let end = try await group.next() {
          if let end { return end }
        }
        throw RunError("\(name): the cluster ended")
      }
    }
  }

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
    let topic = deployment.configuration.topics.prefix + family.topic
    let subscription = Int.random(in: 100..<120, using: &random)
    // The signing time, from which the timer counts.
    let fixture = try await fixtures.next(kind, signedDate: Self.now, to: topic) { draft in
      if dice == 4 { draft.setOriginalTransactionId("2000000000000\(subscription)") }
    }
    (self.fixtures, self.random) = (fixtures, random)
    return (fixture, dice >= 4)
  }

  /// Adds notifications that are already in Kafka.
  func expect(_ found: [String: Bool]) { sent.merge(found) { $1 } }

  // MARK: - An operator

  /// Makes workers report each run to the endpoint, and expose their metrics at a known port. For one worker at a time.
  func beOperated() throws { metrics = "http://127.0.0.1:\(try FreePorts.find(1)[0])/metrics" }

  /// Marks a notification as discarded.
  func discard(_ id: String) { discarded.insert(id) }

  /// Records a violated guarantee.
  func fault(_ sentence: String) { surprises.append(sentence) }

  // MARK: - Processes

  /// Starts processes until the given number is running.
  func start(_ count: Int) throws {
    while workers.count < count { workers.append(try startOne()) }
  }

  private func startOne() throws -> Child {
    started += 1
    var environment = ["CRASH_WORLD": url]
    if let port = metrics.flatMap({ URL(string: $0)?.port }) {
      environment["CRASH_ASKS"] = "yes"
      environment["MILLRACE_ADMIN_PORT"] = "\(port)"
    }
    return try deployment.startWorker("worker-\(started)", environment)
  }

  /// Starts a process that is not restarted, under a name that the group knows.
  func startApart(_ log: String, as instance: String?) throws -> Child {
    var environment = ["CRASH_WORLD": url]
    environment["MILLRACE_KAFKA_INSTANCE"] = instance
    return try deployment.startWorker(log, environment)
  }

  /// Sends a signal to a process and starts another one when it has ended.
  @discardableResult
  func replace(_ index: Int, by signal: Int32) async throws -> Child.End {
    let worker = workers[index]
    worker.send(signal)
    let end = await worker.wait()
    workers[index] = try startOne()
    return end
  }

  /// Makes the effect of a notification kill the calling process while `body` runs.
  func poisoning(_ id: String, _ body: () async throws -> Void) async throws {
    world.poison(Findings.effect(of: id))
    isPoisoned = true
    defer {
      world.heal()
      isPoisoned = false
    }
    try await body()
  }

  /// Sends SIGTERM to all processes and waits for their ends.
  func leave() async -> [Child.End] {
    for worker in workers { worker.send(SIGTERM) }
    var ends: [Child.End] = []
    for worker in workers {
      ends.append(await worker.wait())
    }
    workers = []
    return ends
  }

  /// Restarts processes that ended unexpectedly, like a supervisor.
  func keep() throws {
    for (index, worker) in workers.enumerated() {
      guard let end = worker.end else { continue }
      if isPoisoned, end == .signal(SIGKILL) {
        poisonings += 1
      } else {
        surprises.append("a process ended by itself with \(end): \(worker.log)")
      }
      workers[index] = try startOne()
    }
  }

  fileprivate func killAll() async {
    world.release()
    for worker in workers {
      worker.send(SIGKILL)
      _ = await worker.wait()
    }
  }

  // MARK: - Waiting

  /// Waits until a condition holds, up to the time limit of the run.
  func wait(for what: String, until holds: @Sendable () async throws -> Bool) async throws {
    while true {
      let asked = ContinuousClock.now
      if try await holds() { return }
      guard ContinuousClock.now < deployment.tools.deadline else {
        let open = sent.keys.filter { !observer.answered.contains($0) }
        throw RunError(
          """
          \(deployment.name): time limit reached, waiting for \(what); \(open.count) of \(sent.count) notifications \
          have no event; logs in \(deployment.directory)
          """ + surprises.prefix(5).map { "\n    \($0)" }.joined())
      }
      try keep()
      // Sleep as long as the check took, to leave the CPU to the workers.
      try await Task.sleep(for: max(.milliseconds(20), ContinuousClock.now - asked))
    }
  }

  /// Waits until everything is handled: an event for each notification and timer, and a matching ledger. Requeues the
  /// notifications that were blamed for a crash, as an operator would.
  func settle() async throws {
    let operations = try WorkerOperations(
      worker: Deployment.worker, prefix: deployment.configuration.topics.prefix, on: deployment.log, author: "crash")
    let ids = Set(sent.keys).subtracting(discarded)
    let timers = Set(sent.filter(\.value).keys).subtracting(discarded)
    try await wait(for: "every notification to be answered") { [observer] in
      func isDone() -> Bool {
        ids.isSubset(of: observer.answered.union(observer.dead))
          && timers.isSubset(of: observer.reminded.union(observer.dead))
      }
      if !isDone(), self.deployment.tools.nodes != nil { try await self.readAgain() }
      return isDone()
    }
    let letters = try await operations.deadLetters(isOpenOnly: true)
    if !letters.isEmpty {
      say("\(letters.count) dead letters requeued: \(Set(letters.map(\.reason)).sorted().joined(separator: ", "))")
      _ = try await operations.requeue(letters.map(\.id), why: "killed by scripts/crash", patience: .seconds(60)) { _ in
      }
    }
    try await wait(for: "every notification to have an event") { [observer] in ids.isSubset(of: observer.answered) }
    try await wait(for: "every timer to fire") { [observer] in timers.isSubset(of: observer.reminded) }
    try await wait(for: "the ledger to say so") {
      try await Task.sleep(for: .milliseconds(200))
      return try await self.findings().unfinished.isEmpty
    }
  }

  /// Reads all events and dead letters with new clients. After faults of brokers, the observer's consumer may have
  /// stopped fetching a partition (librdkafka 2.0.2), and the verdict is about the workers.
  private func readAgain() async throws {
    for topic in [deployment.topics.events, deployment.topics.deadLetters] {
      observer.take(try await deployment.log.everything(in: [topic]))
    }
  }

  // MARK: - Findings

  func findings() async throws -> Findings {
    let (log, topics) = (deployment.log, deployment.topics)
    var findings = Findings()
    (findings.sent, findings.discarded) = (sent, discarded)
    findings.effects = world.effects
    for record in try await log.everything(in: [topics.events]) { findings.take(record) }
    for record in try await log.everything(in: [topics.deadLetters]) {
      guard let letter = DeadLetter(record.headers), let id = record.text("ce_id") ?? record.text("millrace-timer")
      else { continue }
      findings.deadLetters[id] = letter.reason
    }
    for record in try await log.everything(in: [topics.ledger]) { findings.takeLedger(record) }
    findings.trimmed = try await log.trimmed(of: topics.laneTopics + [topics.events, topics.operations])
      .map { "\($0)" }
    return findings
  }
}
