// A machine that runs the ingress without its HTTP server. Apple posts a notification again until it gets an answer 200.

internal import AppStore
internal import AppStoreSignature
internal import CSimulation
internal import KafkaClient
internal import Logging
internal import MillraceCore
internal import MillraceRecords
internal import MillraceTime

@testable internal import Ingress

final class IngressMachine: @unchecked Sendable {
  /// The share of answers that Apple does not get.
  var lostAnswers = 0.1
  /// Takes the notifications that Apple gives up; nil if it gives up none.
  private(set) var gaps: GapMachine?
  /// Whether Apple gives up no more notifications.
  var isHealed = false
  /// The notifications that Apple has not got a 200 for.
  private(set) var open = 0

  private unowned let fleet: Fleet
  private let admission: NotificationAdmission
  private let router: NotificationRouter
  private var process: Simulation.ProcessID?
  private var intake: NotificationIntake?
  private var starts = 0

  /// How long Apple waits for an answer.
  private static let patience = Duration.seconds(15)

  init(_ fleet: Fleet, _ apple: AppleModel) throws {
    self.fleet = fleet
    let apps = apple.configuration.apps
    admission = NotificationAdmission(
      verifier: apple.verifier,
      identities: IdentityPolicy(
        apps.map {
          AppIdentity(bundleId: $0.bundleId, appAppleId: $0.appAppleId, environments: Set($0.environments))
        }), sharedSecrets: try SharedSecretCheck(apps))
    router = try TopicCatalog.load(TopicSettings()).router
    if fleet.plan.hasGaps { gaps = GapMachine(fleet, apple, admission) }
  }

  // MARK: - Faults

  func start() {
    guard !(process?.isAlive ?? false) else { return }
    starts += 1
    let process = Simulation.ProcessID(number: simulation_new_process())
    self.process = process
    fleet.timeline.add("process", "the ingress starts as process \(process.number)")
    let log = SimulatedLog(cluster: fleet.cluster, process: process, name: "ingress.\(starts)")
    Simulation.inside(process) { [self] in
      do { intake = try intake(on: log) } catch { fleet.journal.problem("the ingress cannot start: \(error)") }
    }
  }

  func kill() {
    guard let process, process.isAlive else { return }
    fleet.timeline.add("fault", "the ingress is killed")
    simulation_kill(process.number)
  }

  func freeze() {
    guard let process, process.isAlive else { return }
    fleet.timeline.add("fault", "the ingress is frozen")
    simulation_freeze(process.number)
  }

  func thaw() {
    guard let process, process.isFrozen else { return }
    fleet.timeline.add("fault", "the ingress continues")
    simulation_thaw(process.number, false)
  }

  private func intake(on log: SimulatedLog) throws -> NotificationIntake {
    let writer = try log.makeWriter()
    Task { try await writer.run() }
    let (sink, clock) = (IngressSink(writer: writer), MillraceClock.ofSimulation)
    return NotificationIntake(
      admission: admission, router: router, sink: sink,
      quarantine: Quarantine(topic: "millrace.quarantine", perMinute: 100, sink: sink, clock: clock), clock: clock,
      metrics: IngressMetrics(factory: PrometheusRegistry()), sends: SendHealth(),
      refusals: RepeatedLog(fleet.logger("ingress"), clock: clock, interval: .seconds(10), counting: "refusals"))
  }

  // MARK: - Requests

  /// A notification that Apple posts until it has an answer 200.
  private final class Post: @unchecked Sendable {
    let body: [UInt8]
    let id: String
    let answered: () -> Void
    let at = MillraceClock.ofSimulation.wallTime
    /// The number of the newest attempt; an attempt that has ended counts as one more.
    var attempt = 0

    init(_ body: [UInt8], _ id: String, _ answered: @escaping () -> Void) {
      (self.body, self.id, self.answered) = (body, id, answered)
    }
  }

  /// Posts a notification of version 2 until there is an answer 200.
  func post(_ jws: [UInt8], id: String, answered: @escaping () -> Void) {
    open += 1
    let body: JSONObject = ["signedPayload": .string(String(decoding: jws, as: UTF8.self))]
    send(
      Post(body.serialized(), id) { [self] in
        open -= 1
        answered()
      })
  }

  private func send(_ post: Post) {
    post.attempt += 1
    let attempt = post.attempt
    Simulation.call(in: .world, after: Self.patience) { [self] in sendAgain(post, attempt, after: .zero) }
    Simulation.call(in: .world, after: SeedGenerator.duration(.milliseconds(2) ... .milliseconds(300))) { [self] in
      guard let process, process.isAlive, let intake else { return sendAgain(post, attempt, after: .seconds(2)) }
      Simulation.inside(process) {
        Task { [self] in
          let refused: RefusedRequest?
          do throws(RefusedRequest) {
            try await intake.accept(
              post.body, as: .v2, traceParent: .continuing(nil), until: .now.advanced(by: .seconds(8)))
            refused = nil
          } catch {
            refused = error
          }
          Simulation.deliver(to: .world, after: .milliseconds(SeedGenerator.number(1...100))) { [self] in
            ended(post, attempt, refused)
          }
        }
      }
    }
  }

  private func ended(_ post: Post, _ attempt: Int, _ refused: RefusedRequest?) {
    let isLost = SeedGenerator.chance(lostAnswers)
    fleet.timeline.add(
      "ingress", "\(refused.map { "\($0)" } ?? "200") to \(post.id)\(isLost ? ", and Apple does not get it" : "")")
    guard !isLost, refused == nil else {
      return sendAgain(post, attempt, after: .milliseconds(SeedGenerator.number(500...5_000)))
    }
    guard post.attempt == attempt else { return }
    post.attempt += 1
    post.answered()
  }

  /// Sends a notification again, unless another attempt has begun or there is an answer.
  private func sendAgain(_ post: Post, _ attempt: Int, after pause: Duration) {
    guard post.attempt == attempt else { return }
    post.attempt += 1
    if let gaps, !isHealed, SeedGenerator.chance(GapMachine.share) {
      fleet.timeline.add("apple", "gives up \(post.id)")
      return gaps.miss(from: post.at, answered: post.answered)
    }
    Simulation.call(in: .world, after: pause) { [self] in send(post) }
  }
}

/// Sends the records of the ingress. After the deadline a record can still arrive.
private struct IngressSink: RecordSink {
  let writer: any LogWriter

  func send(
    _ record: ProducerRecord, until deadline: ContinuousClock.Instant
  ) async throws(KafkaError) -> RecordPosition {
    let limit = ContinuousClock.now.duration(to: deadline)
    do {
      let position = try await MillraceClock.ofSimulation.result(within: limit) { try await writer.send(record) }
      if let position { return position }
    } catch let error as KafkaError {
      throw error
    } catch {
      throw KafkaError(code: .closed, operation: "send", reason: "\(error)")
    }
    throw KafkaError(code: .messageTimedOut, operation: "send", reason: "not acknowledged in time")
  }
}
