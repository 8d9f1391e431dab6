// A worker's processes and what they are given to do.

import AppStore
import AppStoreSigning
import Foundation
import Kafka
import Millrace
import MillraceTesting
import Operations
import Processes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

actor Mill {
  nonisolated let deployment: Deployment
  nonisolated let observer = Observer()
  nonisolated let world: World
  /// What a person who watches is told.
  nonisolated let say: @Sendable (String) -> Void

  private let url: String
  private var fixtures: NotificationFixtures
  private var random: SeededGenerator
  private var started = 0
  private(set) var workers: [Child] = []
  /// By notification, whether it has an effect.
  private(set) var sent: [String: Bool] = [:]
  /// What a person put aside: nothing is to come of it.
  private(set) var discarded: Set<String> = []
  /// Where the metrics of an operated worker are; nil: workers are many, none is asked for them, and none asks the world.
  private(set) var metrics: String?
  /// What went wrong on the way: processes that ended although nobody asked them to, for instance.
  private(set) var surprises: [String] = []
  /// Whether a notification is there whose handling kills, and how many processes it has killed.
  private var isPoisoned = false
  private(set) var poisonings = 0
  /// Those that may: their producer was fenced, and only a new process has a new one.
  private var fenced: Set<Int32> = []

  private init(
    _ deployment: Deployment, fixtures: NotificationFixtures, world: World, url: String, seed: UInt64,
    say: @escaping @Sendable (String) -> Void
  ) {
    (self.deployment, self.fixtures, self.world, self.url, self.say) = (deployment, fixtures, world, url, say)
    random = SeededGenerator(seed: seed)
  }

  /// Runs `body` with a deployment of its own; afterwards no process of it is left.
  static func run<Result: Sendable>(
    _ name: String, _ size: Deployment.Size, seed: UInt64, tools: Tools, say: @escaping @Sendable (String) -> Void,
    _ body: @escaping @Sendable (Mill) async throws -> Result
  ) async throws -> Result {
    let fixtures = try NotificationFixtures(from: now, seed: seed)
    let deployment = try await Deployment(
      name, size, prefix: "\(name)-\(String(UInt64.random(in: .min ... .max), radix: 36)).",
      chain: fixtures.chain, app: fixtures.app, tools: tools)
    defer { deployment.end() }
    let world = World(seed: seed)
    return try await world.serving { url in
      let mill = Mill(
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

  /// Writes that many notifications as the ingress does: half are renewals, some of them of one subscription, and half of
  /// those fail at first.
  func send(_ count: Int) async throws {
    var (fixtures, random) = (self.fixtures, self.random)
    var records: [ProducerRecord] = []
    for _ in 0..<count {
      let dice = Int.random(in: 0..<8, using: &random)
      let kind = SampleKind(dice < 4 ? .test : dice < 6 ? .didRenew : .didFailToRenew)
      let family = dice < 4 ? NotificationFamily.tests : .subscriptions
      let topic = deployment.configuration.topics.prefix + family.topic
      let subscription = Int.random(in: 100..<120, using: &random)
      // Now, for a timer counts from then.
      let fixture = try await fixtures.next(kind, signedDate: Self.now, to: topic) { draft in
        if dice == 4 { draft.setOriginalTransactionId("2000000000000\(subscription)") }
      }
      sent[fixture.id] = dice >= 4
      records.append(fixture.producerRecord)
    }
    (self.fixtures, self.random) = (fixtures, random)
    try await deployment.log.append(records)
  }

  // MARK: - An operator

  /// From now on workers ask the world before they do anything, and have their metrics where they can be read; one worker
  /// at a time.
  func beOperated() throws { metrics = "http://127.0.0.1:\(try FreePorts.find(1)[0])/metrics" }

  /// Nothing is to come of this one any more.
  func discard(_ id: String) { discarded.insert(id) }

  /// Something is not as promised.
  func fault(_ sentence: String) { surprises.append(sentence) }

  // MARK: - Processes

  /// Starts processes until there are that many.
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

  /// Sends a signal to one and starts another in its place once it is over.
  @discardableResult
  func replace(_ index: Int, by signal: Int32) async throws -> Child.End {
    let worker = workers[index]
    worker.send(signal)
    let end = await worker.wait()
    workers[index] = try startOne()
    return end
  }

  /// Expects a process to end by itself, or not.
  func fence(_ worker: Child) { fenced.insert(worker.pid) }

  /// The effect of a notification kills whoever causes it while `body` runs.
  func poisoning(_ id: String, _ body: () async throws -> Void) async throws {
    world.poison(Findings.effect(of: id))
    isPoisoned = true
    defer {
      world.heal()
      isPoisoned = false
    }
    try await body()
  }

  /// Asks all to leave, and waits for it.
  func leave() async -> [Child.End] {
    for worker in workers { worker.send(SIGTERM) }
    var ends: [Child.End] = []
    for worker in workers {
      let end = await worker.wait()
      if !fenced.contains(worker.pid) { ends.append(end) }
    }
    workers = []
    return ends
  }

  /// Starts those anew that ended although nobody asked them to, as whatever keeps processes would.
  func keep() throws {
    for (index, worker) in workers.enumerated() {
      guard let end = worker.end else { continue }
      if isPoisoned, end == .signal(SIGKILL) {
        poisonings += 1
      } else if !fenced.contains(worker.pid) {
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

  /// Waits until something holds; the run's limit is the only clock.
  func wait(for what: String, until holds: @Sendable () async throws -> Bool) async throws {
    while try await !holds() {
      guard ContinuousClock.now < deployment.tools.deadline else {
        let open = sent.keys.filter { !observer.answered.contains($0) }
        throw RunError(
          """
          \(deployment.name): the time is over, waiting for \(what); \(open.count) of \(sent.count) notifications have no \
          event; logs in \(deployment.directory)
          """ + surprises.prefix(5).map { "\n    \($0)" }.joined())
      }
      try keep()
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Waits until the worker is done with everything: an event for each notification and each timer, and a ledger that
  /// says so. What was taken for the cause of a crash is a person's to decide about; here it is requeued.
  func settle() async throws {
    let operations = try WorkerOperations(
      worker: Deployment.worker, prefix: deployment.configuration.topics.prefix, on: deployment.log, author: "crash")
    let ids = Set(sent.keys).subtracting(discarded)
    let timers = Set(sent.filter(\.value).keys).subtracting(discarded)
    try await wait(for: "every notification to be answered") { [observer] in
      ids.isSubset(of: observer.answered.union(observer.dead))
        && timers.isSubset(of: observer.reminded.union(observer.dead))
    }
    let letters = try await operations.deadLetters(isOpenOnly: true)
    if !letters.isEmpty {
      say("\(letters.count) dead letters are requeued: \(Set(letters.map(\.reason)).sorted().joined(separator: ", "))")
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

  // MARK: - What there is

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
