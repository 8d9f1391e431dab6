// A worker with few lanes and one with more: two deployments of the same worker on one cluster, under constant load.

import AppStore
import AppStoreSigning
import Crypto
import Foundation
import KafkaClient
import MillraceRecords
import MillraceTesting
import ScenarioRig

actor RelaneTest {
  private static let worker = CrashWorker.name
  /// Long enough that many records and timers wait while the worker is moved.
  private static let delays = ["20s", "40s"]
  private static let reminder = 20
  /// Notifications per tenth of a second.
  private static let rate = 8

  private let (old, new): (Deployment, Deployment)
  private let endpoint: CountingEndpoint
  private let observer = TopicObserver(CrashEvents())
  private let (before, after): (WorkerGroup, WorkerGroup)
  private var fixtures: NotificationFixtures
  private var random: SeededGenerator

  /// Whether each sent notification has an effect.
  private var sent: [String: Bool] = [:]
  /// The renewals of each subscription, in the order in which they were sent.
  private var renewals: [String: [String]] = [:]
  /// The new lane of each notification, by the key of its entry in the ledger.
  private var lanes: [[UInt8]: Int32] = [:]
  private var isSendingToNew = false
  /// The notifications that Kafka has not yet acknowledged in the old topics.
  private var unacknowledged = 0
  private var isSending = true
  private var faults: [String] = []

  private init(
    _ old: Deployment, _ new: Deployment, fixtures: NotificationFixtures, endpoint: CountingEndpoint, url: String,
    seed: UInt64
  ) {
    (self.old, self.new, self.endpoint, self.fixtures) = (old, new, endpoint, fixtures)
    random = SeededGenerator(seed: seed)
    let environment = [
      "CRASH_ENDPOINT": url, "CRASH_ASKS": "yes", "CRASH_NUMBERS": "yes", "CRASH_REMINDER": "\(Self.reminder)",
    ]
    func group(_ deployment: Deployment) -> WorkerGroup {
      WorkerGroup(
        Self.worker, .scenario(CrashWorker.subcommand), of: deployment, log: "worker", environment: environment,
        hasAdminPort: true)
    }
    (before, after) = (group(old), group(new))
  }

  static func run(from few: Int, to many: Int, _ rig: Rig) async throws -> CrashVerdict {
    let now = Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1_000))
    let fixtures = try NotificationFixtures(from: now, seed: rig.seed)
    let name = "relane-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    func deploy(_ lanes: Int) async throws -> Deployment {
      let size = CrashTest.Size(lanes: lanes, recordsInFlight: 48, delays: delays)
      return try await CrashTest.deploy(
        size, "\(lanes)-lanes", prefix: "\(name)-\(lanes).", fixtures.chain, fixtures.app, rig)
    }
    let (old, new) = (try await deploy(few), try await deploy(many))
    let endpoint = CountingEndpoint(seed: rig.seed)
    endpoint.setUnreliable(false)
    return try await endpoint.serving { url in
      let test = RelaneTest(old, new, fixtures: fixtures, endpoint: endpoint, url: url, seed: rig.seed)
      return try await ScenarioRig.run {
        try await ScenarioRig.run {
          try await test.move()
        } thenAlways: {
          await test.before.killAll()
          await test.after.killAll()
        }
      } beside: {
        let topics = [old, new].map { CrashTest.topics(of: $0) }
        try await test.observer.follow(topics.flatMap { [$0.events, $0.deadLetters] }, of: new)
      }
    }
  }

  // MARK: - The procedure

  private func move() async throws -> CrashVerdict {
    // A backlog, so that the ledger has pages.
    try await send(300)
    let refused = try await sendRefused(5)
    let load = Task { try await self.sendUntilStopped() }
    defer { load.cancel() }
    try await before.start(3)
    try await before.waitUntilReady()
    try await wait(for: "the worker with \(old.lanes) lanes to handle notifications") { observer.answered.count >= 400 }
    let early = try await relane(["--dry-run"], file: "early")
    expect(early.status == 1, "relane ended with \(early.status) while the worker ran")

    isSendingToNew = true
    try await wait(for: "the last notifications in the old topics") { unacknowledged == 0 }
    say("\(sentToOld.count) sent to \(old.lanes) lanes; from now on to \(new.lanes)")
    try await wait(for: "the worker with \(old.lanes) lanes to handle the rest") {
      try await relane(["--dry-run"], file: "waiting").output.contains(#""unhandled":0,"#)
    }
    for failed in try await before.leave() { faults.append("\(failed)") }
    let pending = (
      records: sent.keys.count { isOld($0) && !observer.answered.contains($0) } - refused.count,
      timers: sent.count { $0.value && observer.answered.contains($0.key) && !observer.reminded.contains($0.key) }
    )
    expect(pending.records > 0 && pending.timers > 0, "nothing waited during the move, so it was not tested")
    let copied = try await killWhileCopying()
    let moved = try await relane(["--yes"], file: "moved")
    guard moved.status == 0 else { throw RunError("relane ended with \(moved.status): \(moved.notes)") }
    let again = try await relane(["--yes"], file: "again")
    expect(
      again.status == 0 && again.output.contains(#""state":"moved""#), "a second move was not refused: \(again.output)")
    say(
      """
      moved while \(pending.records) records and \(pending.timers) timers waited; the command was killed once, after \
      \(copied) records
      """)
    moved.notes.split(separator: "\n").forEach { say("  \($0)") }

    try await runOldWorkerAgain()
    try await after.start(3)
    try await after.waitUntilReady()
    let late = try await relane(["--yes"], file: "late")
    expect(late.status == 0, "relane ended with \(late.status) after the new worker had started: \(late.notes)")
    endpoint.refuse([])
    let requeued = try await new.millrace(
      [
        "dead-letters", "requeue", "--reason", "refused", "--worker", Self.worker, "--why", "accepted now", "--wait",
        "2m",
      ],
      file: "requeue")
    expect(
      requeued.status == 0 && requeued.notes.contains("\(refused.count) sent again."),
      "the copied dead letters were not requeued: \(requeued.notes)")
    let count = sent.count
    try await wait(for: "more notifications") { sent.count >= count + 300 }
    isSending = false
    try await load.value
    return try await settle()
  }

  /// Starts an old process after the move, by mistake. What it does must be copied, or its timers fire twice.
  private func runOldWorkerAgain() async throws {
    let reminded = observer.reminded.count
    try await before.start(1)
    try await wait(for: "timers of the old worker to fire after the move") { observer.reminded.count >= reminded + 3 }
    for failed in try await before.leave() { faults.append("\(failed)") }
    let survey = try await relane(["--dry-run"], file: "ran-again")
    expect(survey.output.contains(#""state":"ready""#), "the old worker ran again: \(survey.output)\(survey.notes)")
    let rest = try await relane(["--yes"], file: "rest")
    guard rest.status == 0 else { throw RunError("relane ended with \(rest.status): \(rest.notes)") }
    let settled = try await relane(["--yes"], file: "settled")
    expect(
      settled.status == 0 && settled.output.contains(#""state":"moved""#), "the rest was not copied: \(settled.output)")
    say(
      "an old process ran after the move, and fired \(observer.reminded.count - reminded) timers; the rest was copied")
  }

  private func relane(_ arguments: [String], file: String) async throws -> CommandResult {
    try await new.millrace(["topics", "relane", "--from-prefix", old.prefix, "--json"] + arguments, file: file)
  }

  /// Kills the command once it has copied something.
  /// - Returns: The number of records in the new ledger after that.
  private func killWhileCopying() async throws -> Int64 {
    let ledger = try await new.log.partitions(of: [CrashTest.topics(of: new).ledger])
    func records() async throws -> Int64 {
      try await new.log.highWatermarks(of: ledger, timeout: .seconds(30)).values.reduce(0) { $0 + $1.upperBound }
    }
    let command = try new.start(
      Program("millrace", ["topics", "relane", "--from-prefix", old.prefix, "--yes"]), log: "killed")
    try await new.wait(for: "relane to copy", every: .milliseconds(2)) {
      try await records() > 0 || command.end != nil
    }
    let end = await command.end(by: .kill)
    expect(end == .killed, "relane ended with \(end) before it could be killed")
    return try await records()
  }

  private func settle() async throws -> CrashVerdict {
    let withTimer = Set(sent.filter(\.value).keys)
    try await wait(for: "every notification to have an event") { Set(sent.keys).isSubset(of: observer.answered) }
    try await wait(for: "every timer to fire") { withTimer.isSubset(of: observer.reminded) }
    try await wait(for: "the ledger to say so") {
      try await Task.sleep(for: .milliseconds(200))
      return try await findings().unfinished.isEmpty
    }
    for failed in try await after.leave() { faults.append("\(failed)") }
    let found = try await findings()
    let promise = Promise(isExactlyOnce: true, isCalledOnce: true, hasPages: true, deadly: "refused")
    return CrashVerdict(
      title: "a move from \(old.lanes) to \(new.lanes) lanes under load",
      details: found.summary + ", \(renewals.values.reduce(0) { $0 + $1.count }) renewals in order",
      faults: faults + found.faults(promise) + faultsOfOrder(found))
  }

  private func findings() async throws -> Findings {
    let topics = [old, new].map { CrashTest.topics(of: $0) }
    var findings = Findings()
    findings.sent = sent
    findings.effects = endpoint.effects
    for record in try await new.log.everything(in: topics.map(\.events)) { findings.take(record) }
    for record in try await new.log.everything(in: topics.map(\.deadLetters)) {
      guard let letter = DeadLetter(record.headers), let id = record.text("ce_id") else { continue }
      findings.deadLetters[id] = letter.reason
    }
    // Other lanes have old entries of these notifications too, which they never ask about.
    for record in try await new.log.everything(in: [CrashTest.topics(of: new).ledger]) {
      if let lane = lanes[record.key ?? []], lane != record.partition { continue }
      findings.takeLedger(record)
    }
    return findings
  }

  /// A state of the worker counts the renewals of each subscription. They must be counted in the order in which they were sent.
  private func faultsOfOrder(_ findings: Findings) -> [String] {
    let numbers = Dictionary(
      findings.events.compactMap { event in event.number.map { (event.notification, $0) } }, uniquingKeysWith: { $1 })
    return renewals.sorted { $0.key < $1.key }.compactMap { subscription, ids in
      let found = ids.map { numbers[$0] ?? 0 }
      guard found != Array(1...ids.count) else { return nil }
      return "the renewals of \(subscription) were handled in the order \(found)"
    }
  }

  // MARK: - Load

  private func sendUntilStopped() async throws {
    var due = ContinuousClock.now
    while isSending {
      try await send(Self.rate)
      due += .milliseconds(100)
      try await Task.sleep(until: due, clock: .continuous)
    }
  }

  private func send(_ count: Int) async throws {
    let isToOld = !isSendingToNew
    let target = isToOld ? old : new
    if isToOld { unacknowledged += count }
    defer { if isToOld { unacknowledged -= count } }
    var records: [ProducerRecord] = []
    for _ in 0..<count {
      let dice = Int.random(in: 0..<8, using: &random)
      let fixture = try await next(dice < 2 ? .test : dice < 6 ? .didRenew : .didFailToRenew, target)
      records.append(fixture.producerRecord)
    }
    try await target.log.append(records)
  }

  /// Sends notifications that become dead letters.
  private func sendRefused(_ count: Int) async throws -> Set<String> {
    var records: [ProducerRecord] = []
    var ids: Set<String> = []
    for _ in 0..<count {
      let fixture = try await next(.test, old)
      ids.insert(fixture.id)
      records.append(fixture.producerRecord)
    }
    endpoint.refuse(ids)
    try await old.log.append(records)
    return ids
  }

  private var sentToOld: Set<String> = []
  private func isOld(_ id: String) -> Bool { sentToOld.contains(id) }

  private func next(_ type: NotificationTypeV2, _ target: Deployment) async throws -> NotificationFixture {
    var (fixtures, random) = (self.fixtures, self.random)
    let family = type == .test ? NotificationFamily.tests : .subscriptions
    let subscription = "2000000000000\(Int.random(in: 100..<130, using: &random))"
    let now = Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1_000))
    let fixture = try await fixtures.next(SampleKind(type), signedDate: now, to: target.prefix + family.topic) {
      draft in
      if type != .test { draft.setOriginalTransactionId(subscription) }
    }
    (self.fixtures, self.random) = (fixtures, random)
    sent[fixture.id] = type != .test
    lanes[[UInt8(ascii: "h")] + SHA256.hash(data: Array(fixture.id.utf8)).prefix(16)] =
      Murmur2.partition(of: fixture.producerRecord.key ?? [], among: new.lanes)
    if type == .didRenew { renewals[subscription, default: []].append(fixture.id) }
    if target.prefix == old.prefix { sentToOld.insert(fixture.id) }
    return fixture
  }

  // MARK: - Checks

  private func expect(_ holds: Bool, _ sentence: @autoclosure () -> String) {
    if !holds { faults.append(sentence()) }
  }

  private func wait(for what: String, until holds: nonisolated(nonsending) () async throws -> Bool) async throws {
    try await new.wait(
      for: what, state: { "; \(observer.answered.count) of \(sent.count) notifications have an event" },
      until: holds)
  }
}
