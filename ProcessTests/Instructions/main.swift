// Takes notifications through the ingress or a worker, without HTTP and Kafka, for `scripts/check instructions`, which
// counts the instructions with callgrind.
//
//   millrace-instructions ingress|worker|headers COUNT OF
//
// OF notifications are made and COUNT of them processed, so that the difference of two runs is the cost of the steps
// that are counted. `headers` is the worker without verification, with copies of one notification. The main thread waits in
// a semaphore, because callgrind cannot follow a program whose main function is asynchronous.
import AppStore
import AppStoreSignature
import AppStoreSigning
import Dispatch
import Foundation
import KafkaClient
import Logging
import MillraceCore
import MillraceRecords
@_spi(Measurement) import MillraceTesting
import MillraceTime
import MillraceWorker
import Synchronization

enum Instructions {
  static func ingress(_ count: Int, of total: Int) async throws {
    var fixtures = try NotificationFixtures(seed: 1)
    let router = try NotificationRouter([
      TopicDefinition(
        name: NotificationFixtures.defaultTopic, notifications: TopicDefinition.Notifications(unrecognized: true))
    ])
    let admission = NotificationAdmission(
      verifier: fixtures.verifier, identities: fixtures.identities, sharedSecrets: try SharedSecretCheck([]))
    let bodies = try await signed(total, &fixtures).map {
      Array(#"{"signedPayload":""#.utf8) + $0.bytes + Array(#""}"#.utf8)
    }
    for body in bodies.prefix(count) {
      let admitted = try await admission.v2(body: body)
      let record = admitted.record(
        origin: .post, traceParent: .continuing(nil), receivedAt: MillraceClock.system.wallTime, router: router)
      guard record.producerRecord.value?.isEmpty == false else { throw InstructionsError("an empty record") }
    }
  }

  /// The notifications in a commit. Commits by time would cost what the machine's load makes them cost.
  static let commitCount = 20

  /// - Parameter isVerified: Whether the worker verifies the notifications, or only reads their headers.
  static func worker(_ count: Int, of total: Int, isVerified: Bool) async throws {
    var fixtures = try NotificationFixtures(from: MillraceClock.system.wallTime, seed: 1)
    let log = InMemoryLog(clock: .system)
    var configuration = MillraceConfiguration()
    configuration.apps = [fixtures.appSettings()]
    let topics = WorkerTopics(
      worker: CountingWorker.name, inputs: [NotificationFixtures.defaultTopic],
      delays: CountingWorker.policy.retryDelays, prefix: "")
    for topic in topics.laneTopics { try log.createTopic(topic, partitions: 1) }
    for topic in topics.others { try log.createTopic(topic, partitions: 1) }
    var records = try await signed(isVerified ? total : 1, &fixtures).map(\.producerRecord)
    if !isVerified, let first = records.first { records = copies(total, of: first) }
    records = Array(records.prefix(count))
    var policy = CountingWorker.policy
    (policy.commitCount, policy.commitInterval) = (commitCount, .seconds(60))
    let measured = try await MeasuredWorker(
      CountingWorker.self, configuration, policy, log: log,
      verifier: isVerified ? fixtures.verifier : nil,
      logger: Logger(label: "instructions") { _ in SwiftLogNoOpLogHandler() })
    let running = Task { try await measured.run() }
    defer { running.cancel() }
    while !measured.isReady { try await Task.sleep(for: .milliseconds(10)) }
    for record in records { try log.append(record) }
    for _ in 0..<3_000 where CountingWorker.handled.load(ordering: .relaxed) < count {
      try await Task.sleep(for: .milliseconds(100))
    }
    var looks = 0
    while !(await measured.isQuiet()) {
      looks += 1
      guard looks < 3_000 else { throw InstructionsError("the last notifications are not committed") }
      try await Task.sleep(for: .milliseconds(100))
    }
    let handled = CountingWorker.handled.load(ordering: .relaxed)
    guard handled == count else {
      throw InstructionsError("\(handled) of \(count) notifications were handled")
    }
  }

  /// Returns copies of a record with ids and keys of their own.
  private static func copies(_ count: Int, of record: ProducerRecord) -> [ProducerRecord] {
    (0..<count).map { number in
      let digits = String(number + 1_000_000_000_000).dropFirst()
      var copy = record
      copy.key = Array("2\(digits)".utf8)
      copy.headers = record.headers.map {
        $0.name == "ce_id" ? RecordHeader("ce_id", "00000000-0000-4000-8000-\(digits)") : $0
      }
      return copy
    }
  }

  private static func signed(
    _ count: Int, _ fixtures: inout NotificationFixtures
  ) async throws -> [NotificationFixture] {
    var signed: [NotificationFixture] = []
    for _ in 0..<count { signed.append(try await fixtures.next(SampleKind(.didRenew))) }
    return signed
  }
}

/// Does nothing and counts its calls.
struct CountingWorker: NotificationWorker {
  static let name = "counting"
  static let families: Set<NotificationFamily> = [.subscriptions]
  static let handled = Atomic(0)

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    Self.handled.add(1, ordering: .relaxed)
    return .ignore
  }
}

struct InstructionsError: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let count = Int(arguments[2]), let total = Int(arguments[3]), count <= total,
  count % Instructions.commitCount == 0
else {
  print("usage: millrace-instructions ingress|worker|headers COUNT OF")
  exit(2)
}
let done = DispatchSemaphore(value: 0)
let status = Atomic<Int32>(0)
Task.detached {
  do {
    switch arguments[1] {
    case "ingress": try await Instructions.ingress(count, of: total)
    case "worker": try await Instructions.worker(count, of: total, isVerified: true)
    case "headers": try await Instructions.worker(count, of: total, isVerified: false)
    default: throw InstructionsError("unknown path \(arguments[1])")
    }
  } catch {
    print(error)
    status.store(1, ordering: .relaxed)
  }
  done.signal()
}
done.wait()
exit(status.load(ordering: .relaxed))
