// The handler of the simulated worker. Its decisions follow the number of the notification, so that the checker knows
// what has to happen; its durations follow the seed.

internal import AppStore
internal import CSimulation
internal import MillraceTime

@testable internal import PlantedWorker

/// The behaviour of the handler for a notification, by its number.
struct Work {
  var number: Int

  init?(_ id: String) {
    guard id.first == "n", let number = Int(id.dropFirst()) else { return nil }
    self.number = number
  }

  var hasEffect: Bool { number.isMultiple(of: 3) }
  /// Its first two runs fail.
  var fails: Bool { number % 13 == 5 }
  /// It asks to be retried once.
  var waits: Bool { number % 11 == 4 }
  var setsTimer: Bool { number % 5 == 1 }
  /// It is a dead letter until the handler is mended.
  var isRefused: Bool { number % 9 == 7 }
  /// The first two runs of its timer fail, if the plan has failing timers.
  var timerFails: Bool { number % 2 == 0 }
  /// Its timer is a dead letter until the handler is mended.
  var isTimerRefused: Bool { number % 4 == 1 }
  /// Whether a record of its key may overtake it.
  var isDelayed: Bool { fails || waits }
}

struct FleetHandler: LaneHandling {
  let fleet: Fleet
  let machine: String

  func run(_ item: LaneItem, recorder: any EffectRecorder) async -> HandlerResult {
    fleet.timeline.add("handler", "\(machine) runs \(item.id), attempt \(item.attempt)")
    return await result { try await handle(item, recorder) }
  }

  func run(_ timer: FiredTimer, recorder: any EffectRecorder) async -> HandlerResult {
    fleet.timeline.add("handler", "\(machine) fires \(timer.name)")
    return await result {
      try await work()
      let work = Work(String(timer.name.dropFirst("timer-".count)))
      if fleet.plan.hasFailingTimers, work?.timerFails == true, timer.attempt < 2 { throw NotYet() }
      if !fleet.operators.isMended, work?.isTimerRefused == true { return .deadLetter(Operators.refusal, timer.name) }
      return Outcome(.done(try Outcome.Results().emitting(Fired(timer: timer.name))))
    }
  }

  private func result(of run: () async throws -> Outcome) async -> HandlerResult {
    do {
      return .decided(try await run())
    } catch {
      return .failed(FailureDisposition.of(error), reason: "handler-error", detail: "\(error)")
    }
  }

  private func work() async throws {
    let duration = SeedGenerator.duration(.zero...fleet.plan.longestRun)
    try await MillraceClock.ofSimulation.sleep(for: duration)
  }

  private func handle(_ item: LaneItem, _ recorder: any EffectRecorder) async throws -> Outcome {
    guard let work = Work(item.id) else { return .deadLetter("unknown", item.id) }
    let key = "k\(work.number % fleet.plan.keys)"
    try await self.work()
    if !fleet.operators.isMended, work.isRefused { return .deadLetter(Operators.refusal, item.id) }
    if work.hasEffect { try await cause("effect-\(item.id)", recorder) }
    if work.fails, item.attempt < 2 { throw NotYet() }
    if work.waits, item.attempt < 1 { return .retry(after: .seconds(3), because: "not-yet") }
    let count = try await count(of: key, recorder) + 1
    var results = try Outcome.Results().emitting(Answer(id: item.id, key: key, count: count))
      .keeping("count-\(key)", Array("\(count)".utf8))
    if fleet.plan.hasLongStates { results = try await keepLongStates(key, count, results, recorder) }
    let outcome = Outcome(.done(results))
    guard work.setsTimer else { return outcome }
    let delay = Duration.milliseconds(500 * (1 + work.number % 40))
    return outcome.settingTimer("timer-\(item.id)", at: MillraceClock.ofSimulation.wallTime + delay)
  }

  private func count(of key: String, _ recorder: any EffectRecorder) async throws -> Int {
    guard let state = try await recorder.state("count-\(key)") else { return 0 }
    return Int(String(decoding: state, as: UTF8.self)) ?? -1_000
  }

  /// Keeps states whose length and content later runs for the key can check. Their names are numbers, which the ledger's
  /// table keeps in few bytes.
  private func keepLongStates(
    _ key: String, _ count: Int, _ results: Outcome.Results, _ recorder: any EffectRecorder
  ) async throws -> Outcome.Results {
    var results = results
    let (statesOfRun, slots) = (4, 64)
    for index in count * statesOfRun..<(count + 1) * statesOfRun {
      let name = "\((Int(key.dropFirst()) ?? 0) * 100 + 1_000 + index % slots)"
      let expected = index - slots < statesOfRun ? nil : Self.longState(index - slots)
      let found = try await recorder.state(name)
      if found != expected, !isPartOfOutcome(found, index, slots) {
        fleet.journal.problem(
          """
          the state \(name) of \(key) has \(found?.count ?? -1) bytes before run \(count) instead of \
          \(expected?.count ?? -1), or others
          """)
      }
      results = results.keeping(name, Self.longState(index))
    }
    return results
  }

  /// Whether a state can belong to another run. Without transactions, a process that dies can leave a part of the states
  /// of an outcome, and the handler runs again.
  private func isPartOfOutcome(_ found: [UInt8]?, _ index: Int, _ slots: Int) -> Bool {
    fleet.plan.commit == .atLeastOnce
      && (found == nil || stride(from: index, through: 0, by: -slots).contains { Self.longState($0) == found })
  }

  /// Every third state is longer than a block of the ledger's table.
  private static func longState(_ index: Int) -> [UInt8] {
    let length = index.isMultiple(of: 3) ? 16_385 + (index * 7_919) % 1_000 : 1 + index % 3
    return [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: length)
  }

  /// Calls a receiver that does not deduplicate. The body is random, unless an earlier intent has one.
  private func cause(_ name: String, _ recorder: any EffectRecorder) async throws {
    let body = (0..<8).map { _ in UInt8(truncatingIfNeeded: simulation_random()) }
    guard case .intended(let intent) = try await recorder.begin(name, body: body) else { return }
    fleet.journal.caused(name, intent.body)
    try await work()
    try await recorder.end(name, result: [1])
  }

  struct NotYet: Error {}

  struct Answer: WorkerEvent {
    static let eventName = "answer"
    var id: String
    var key: String
    var count: Int
  }

  struct Fired: WorkerEvent {
    static let eventName = "fired"
    var timer: String
  }
}

/// The effects and errors outside of Kafka. It outlives every process.
final class Journal: @unchecked Sendable {
  private(set) var bodies: [String: Set<[UInt8]>] = [:]
  private(set) var problems: [String] = []
  private(set) var ends: [(machine: String, error: (any Error)?, isReplaced: Bool)] = []

  func caused(_ name: String, _ body: [UInt8]) { bodies[name, default: []].insert(body) }
  func problem(_ text: String) { problems.append(text) }
  /// - Parameter isReplaced: Whether another process of the machine has, or had, the same name.
  func ended(_ machine: String, _ error: (any Error)?, isReplaced: Bool) { ends.append((machine, error, isReplaced)) }
}
