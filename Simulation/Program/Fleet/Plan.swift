// The plan of one seed: the fleet, its load, and the faults. It is drawn from the seed alone, so that the seed and the
// numbers of the kept steps repeat a run.

internal import KafkaClient
internal import MillraceCore

/// A fault at a time of the run.
struct Step: Sendable, CustomStringConvertible {
  enum Fault: Sendable {
    case kill(process: Int, restartAfter: Duration)
    case freeze(process: Int, duration: Duration, stopsClock: Bool)
    /// SIGTERM, and a new process afterwards.
    case leave(process: Int, restartAfter: Duration)
    case stop(node: Int, duration: Duration)
    /// All nodes at once.
    case outage(duration: Duration)
    /// Another process with the same name starts while this one is frozen, which then continues.
    case replace(process: Int, duration: Duration)
    /// A node stops running for a while, without closing its connections, and then answers from its old state.
    case suspend(node: Int, duration: Duration)
    case hold([RequestKind], share: Double, longest: Duration, duration: Duration)
    case slow(longest: Duration, duration: Duration)
    case loseAnswers(share: Double, duration: Duration)
    case silence(share: Double, duration: Duration)
    /// The input topic is deleted and created.
    case recreate
    /// Calls of Apple's API fail.
    case apple(AppleFaults, duration: Duration)
    /// An operator replays records that the worker has read; the range is in per cent of each partition. A reapply runs the
    /// handlers again.
    case replay(from: Int, to: Int, isReapply: Bool)
    /// An operator replays records to a topic; the range is in per cent of each partition.
    case copy(from: Int, to: Int)
    /// The handler is mended, and from now on an operator retries its dead letters.
    case mend
    /// Retention deletes the first records of the input topic, in per cent of those that the group has committed.
    case retain(deleted: Int)
    /// The log cleaner removes the older entries of the ledgers.
    case compact
    /// An operator erases the customer with this key.
    case erase(key: Int)
    /// An operator moves the worker to topics with more lanes.
    case relane
    /// An operator fetches what Apple has given up.
    case backfill
    case killIngress(restartAfter: Duration)
    case freezeIngress(duration: Duration)
  }

  var at: Duration
  var fault: Fault

  var description: String {
    let what =
      switch fault {
      case .kill(let process, let pause): "kill process \(process), start it after \(pause)"
      case .freeze(let process, let duration, let stops):
        "freeze process \(process) for \(duration)\(stops ? ", with its clock" : "")"
      case .leave(let process, let pause): "stop process \(process) gracefully, start it after \(pause)"
      case .stop(let node, let duration): "stop node \(node) for \(duration)"
      case .outage(let duration): "stop all nodes for \(duration)"
      case .replace(let process, let duration):
        "freeze process \(process) for \(duration), and start another one with its name"
      case .suspend(let node, let duration): "suspend node \(node) for \(duration)"
      case .hold(let kinds, let share, let longest, let duration):
        """
        hold \(Int(share * 100)) % of \(kinds.map(\.rawValue).joined(separator: ", ")) for up to \(longest), \
        for \(duration)
        """
      case .slow(let longest, let duration): "delay messages by up to \(longest), for \(duration)"
      case .loseAnswers(let share, let duration): "lose \(Int(share * 100)) % of answers for \(duration)"
      case .silence(let share, let duration): "lose \(Int(share * 100)) % of requests silently for \(duration)"
      case .recreate: "delete and create the input topic"
      case .apple(let faults, let duration): "Apple fails for \(duration): \(faults)"
      case .replay(let from, let to, let isReapply):
        "\(isReapply ? "reapply" : "replay") the records read so far, \(from) to \(to) %"
      case .retain(let deleted): "retention deletes \(deleted) % of the records read so far"
      case .compact: "the ledgers are compacted"
      case .copy(let from, let to): "replay the records, \(from) to \(to) %, to a topic"
      case .relane: "move the worker to topics with more lanes"
      case .backfill: "backfill everything so far"
      case .mend: "mend the handler, and retry its dead letters"
      case .erase(let key): "erase the customer k\(key)"
      case .killIngress(let pause): "kill the ingress, start it after \(pause)"
      case .freezeIngress(let duration): "freeze the ingress for \(duration)"
      }
    return "\(at): \(what)"
  }
}

struct Plan: Sendable, CustomStringConvertible {
  var seed: UInt64
  /// The worker of the product whose handlers run; nil for the handler of the simulation.
  var worker: WorkerKind?
  var scheduling: SchedulingPolicy
  var commit: KafkaSettings.Commit
  var lanes: Int
  var processes: Int
  var keys: Int
  var records: Int
  /// The longest pause between two records.
  var gap: Duration
  var areStatic: Bool
  /// Whether Apple posts to the ingress. Otherwise the notifications are appended to the topics.
  var hasIngress = false
  /// The lanes after a move to more lanes, for each lane before it; 1: there is no move.
  var moveFactor = 1
  /// Whether Apple gives up notifications that the ingress does not take.
  var hasGaps = false
  var ordering: WorkerPolicy.Ordering
  /// Whether handlers keep states of more than 16 KiB beside small ones.
  var hasLongStates: Bool
  /// Whether the handler makes dead letters until it is mended.
  var hasDeadLetters = false
  /// Whether the first runs of some timers fail.
  var hasFailingTimers = false
  /// The longest run of a handler.
  var longestRun: Duration
  /// The longest time to hand over a lane.
  var drain: Duration
  var steps: [Step] = []

  /// The time for which records and faults arrive. Afterwards everything heals.
  var duration: Duration { gap * records / 2 }

  /// - Parameters:
  ///   - worker: The worker of the product; nil: the seed draws one or the handler of the simulation.
  ///   - kept: The numbers of the steps to keep; nil: all.
  init(seed: UInt64, worker: WorkerKind? = nil, keeping kept: Set<Int>? = nil) {
    var random = PlanGenerator(seed: seed)
    self.seed = seed
    scheduling = random.chance(0.3) ? .priorities : .random
    commit = random.chance(0.2) ? .atLeastOnce : .transactional
    lanes = random.number(1...4)
    processes = random.number(1...3)
    keys = random.number(2...12)
    records = random.number(30...90)
    gap = .milliseconds(random.number(200...2_000))
    areStatic = random.chance(0.5)
    ordering = random.chance(0.3) ? .strict : .free
    hasLongStates = random.chance(0.15)
    // A large table, so that long and short states share its segments.
    if hasLongStates { (lanes, records, gap) = (1, 200, .milliseconds(200)) }
    longestRun = .milliseconds(random.number(1...800))
    drain = .milliseconds(random.number(300...4_000))
    let kinds = Set((0..<random.number(1...5)).map { _ in random.number(0...12) })
    let count = random.number(1...16)
    for _ in 0..<count {
      let kind = Array(kinds).sorted()[random.number(0...kinds.count - 1)]
      let at = duration * random.number(0...1_000) / 1_000
      steps.append(Step(at: at, fault: Self.fault(kind, processes, &random)))
    }
    steps.sort { $0.at < $1.at }
    drawWorker(worker)
    drawOperations()
    drawIngress()
    drawCopies()
    drawGaps()
    drawMove()
    if let kept { steps = steps.indices.filter { kept.contains($0) }.map { steps[$0] } }
  }

  /// Draws the worker and the faults of Apple after everything else and from other numbers, so that they change nothing of
  /// a plan with the handler of the simulation.
  private mutating func drawWorker(_ given: WorkerKind?) {
    var random = PlanGenerator(seed: seed ^ 0xA991_E000)
    let drawn = WorkerKind.allCases[random.number(0...WorkerKind.allCases.count - 1)]
    worker = given ?? (random.chance(0.2) ? drawn : nil)
    guard worker != nil else { return }
    // Everything is about its own states.
    hasLongStates = false
    records = min(records, 90)
    for _ in 0..<random.number(0...4) {
      let at = duration * random.number(0...1_000) / 1_000
      steps.append(Step(at: at, fault: .apple(Self.appleFaults(&random), duration: .seconds(random.number(1...60)))))
    }
    // The worker asks before it repeats what is an hour old. The answers to the calls before are lost.
    if worker == .renewalExtensions || worker == .http, random.chance(0.3) {
      let at = duration * random.number(0...500) / 1_000
      steps.append(Step(at: at, fault: .apple(AppleFaults(lostAnswers: 1), duration: .seconds(10))))
      steps.append(
        Step(at: at + .seconds(10), fault: .apple(AppleFaults(refused: 1), duration: .seconds(3_700))))
    }
    steps.sort { $0.at < $1.at }
  }

  /// Draws the work of operators, and what Kafka deletes, after everything else and from other numbers, so that it changes
  /// nothing of a plan without it.
  private mutating func drawOperations() {
    var random = PlanGenerator(seed: seed ^ 0x0BE7_A701)
    guard random.chance(0.35) else { return }
    func add(_ fault: Step.Fault) {
      steps.append(Step(at: duration * random.number(0...1_000) / 1_000, fault: fault))
    }
    var reapplies = PlanGenerator(seed: seed ^ 0x4EA9_9170)
    for _ in 0..<random.number(0...2) {
      let from = random.number(0...90)
      // What a second run of a worker of the product changes depends on Apple.
      let isReapply = reapplies.chance(0.5) && worker == nil
      add(.replay(from: from, to: random.number(from + 1...100), isReapply: isReapply))
    }
    // A worker cannot recognize a topic that was created again if retention has deleted the record that it knows (ADR 55).
    let share = random.number(10...100)
    if random.chance(0.3), !isRecreated { add(.retain(deleted: share)) }
    for _ in 0..<random.number(0...2) { add(.compact) }
    if worker == nil {
      hasFailingTimers = random.chance(0.5)
      hasDeadLetters = random.chance(0.6)
      if hasDeadLetters { add(.mend) }
      for _ in 0..<random.number(0...2) { add(.erase(key: random.number(0...keys - 1))) }
    }
    steps.sort { $0.at < $1.at }
  }

  /// Draws the ingress after everything else and from other numbers. The handler of the simulation has notifications without
  /// a signature, and a half of the refunds are of version 1, which an ingress without shared secrets refuses.
  private mutating func drawIngress() {
    var random = PlanGenerator(seed: seed ^ 0x1A6E_5500)
    guard let worker, worker != .refunds, random.chance(0.5) else { return }
    hasIngress = true
    for _ in 0..<random.number(0...3) {
      let at = duration * random.number(0...1_000) / 1_000
      let length = Duration.milliseconds(random.number(1...20_000))
      steps.append(
        Step(at: at, fault: random.chance(0.5) ? .killIngress(restartAfter: length) : .freezeIngress(duration: length)))
    }
    steps.sort { $0.at < $1.at }
  }

  /// Draws replays to a topic after everything else and from other numbers.
  private mutating func drawCopies() {
    var random = PlanGenerator(seed: seed ^ 0xC0B1_E500)
    guard random.chance(0.15) else { return }
    for _ in 0..<random.number(1...2) {
      let from = random.number(0...50)
      let fault = Step.Fault.copy(from: from, to: random.number(from + 1...100))
      steps.append(Step(at: duration * random.number(200...1_000) / 1_000, fault: fault))
    }
    steps.sort { $0.at < $1.at }
  }

  /// Draws backfills after everything else and from other numbers. A last one begins when everything heals.
  private mutating func drawGaps() {
    var random = PlanGenerator(seed: seed ^ 0x6A95_F111)
    guard hasIngress, random.chance(0.5) else { return }
    hasGaps = true
    for _ in 0..<random.number(0...2) {
      steps.append(Step(at: duration * random.number(0...1_000) / 1_000, fault: .backfill))
    }
    steps.sort { $0.at < $1.at }
  }

  /// Draws a move to more lanes after everything else and from other numbers. Operators do nothing else in such a plan, and
  /// what processes without transactions may repeat could not be told from a fault.
  private mutating func drawMove() {
    var random = PlanGenerator(seed: seed ^ 0x4E1A_4E00)
    guard worker == nil, commit == .transactional, !isRecreated, !hasOperations, random.chance(0.3) else { return }
    moveFactor = random.number(2...3)
    steps.append(Step(at: duration * random.number(100...900) / 1_000, fault: .relane))
    for _ in 0..<random.number(0...2) {
      steps.append(Step(at: duration * random.number(0...1_000) / 1_000, fault: .compact))
    }
    steps.sort { $0.at < $1.at }
  }

  private static func appleFaults(_ random: inout PlanGenerator) -> AppleFaults {
    let share = [0.1, 0.3, 1][random.number(0...2)]
    switch random.number(0...5) {
    case 0: return AppleFaults(refused: share)
    case 1: return AppleFaults(errors: share)
    case 2: return AppleFaults(limited: share)
    case 3: return AppleFaults(lostRequests: share / 2, lostAnswers: share / 2)
    case 4: return AppleFaults(lostRequests: 0.1, lostAnswers: 0.2, silent: 0.1)
    default: return AppleFaults(errors: 0.2, limited: 0.2, lostAnswers: 0.2)
    }
  }

  private static func fault(_ kind: Int, _ processes: Int, _ random: inout PlanGenerator) -> Step.Fault {
    let process = random.number(0...processes - 1)
    func seconds(_ range: ClosedRange<Int>) -> Duration { .milliseconds(random.number(range) * 100) }
    switch kind {
    case 0: return .kill(process: process, restartAfter: seconds(0...60))
    case 1: return .freeze(process: process, duration: seconds(5...400), stopsClock: random.chance(0.3))
    case 2: return .leave(process: process, restartAfter: seconds(0...60))
    case 3: return .stop(node: random.number(0...Cluster.nodeCount - 1), duration: seconds(5...400))
    case 4: return .outage(duration: seconds(10...500))
    case 5, 6:
      let transactional = RequestKind.allCases.filter { $0.isTransactional || $0 == .initProducerID }
      let kinds: [RequestKind] =
        switch random.number(0...4) {
        case 0, 1: [.endTransaction]
        case 2: [transactional[random.number(0...transactional.count - 1)]]
        case 3: transactional
        default: [.joinGroup, .heartbeat, .leaveGroup]
        }
      return .hold(kinds, share: 0.3, longest: seconds(2...60), duration: seconds(50...300))
    case 7: return .loseAnswers(share: 0.1, duration: seconds(50...300))
    case 8: return .silence(share: 0.02, duration: seconds(50...300))
    case 9: return .slow(longest: .milliseconds(random.number(20...1_000)), duration: seconds(50...300))
    case 10: return .replace(process: process, duration: seconds(5...600))
    case 11: return .suspend(node: random.number(0...Cluster.nodeCount - 1), duration: seconds(10...200))
    default: return .recreate
    }
  }

  /// Whether operators give commands.
  private var hasOperations: Bool {
    hasDeadLetters || hasFailingTimers
      || steps.contains { step in
        switch step.fault {
        case .replay, .copy, .mend, .retain, .erase: true
        default: false
        }
      }
  }

  /// Whether the input topic is deleted and created again.
  var isRecreated: Bool { steps.contains { if case .recreate = $0.fault { true } else { false } } }

  /// Without transactions, a process that was silent for longer than its session can overwrite ledger entries of its
  /// successor (docs/concepts.md).
  var canOverwriteLedger: Bool {
    guard commit == .atLeastOnce else { return false }
    return steps.contains { step in
      switch step.fault {
      case .kill, .leave: false
      default: true
      }
    }
  }

  /// The limit of simulated time within which everything must be done after the faults. A record that waits for one whose
  /// ledger entry was overwritten runs after an hour (`RetryDelayPassage`).
  var recoveryLimit: Duration { canOverwriteLedger || hasLongOutage ? .seconds(2 * 3_600) : .seconds(900) }

  /// Whether Apple cannot be reached for longer than a worker repeats a call without a question.
  var hasLongOutage: Bool {
    steps.contains { if case .apple(_, let duration) = $0.fault { duration > .seconds(3_600) } else { false } }
  }

  var description: String {
    """
    \(worker.map { "\($0.rawValue), " } ?? "")\(commit == .transactional ? "transactional" : "at-least-once"), \(processes) \(areStatic ? "static" : "dynamic") \
    processes, \(lanes) lanes, \(keys) keys, \(records) records, \(ordering) order, \(scheduling) scheduling\
    \(hasIngress ? ", ingress" : "")\(hasGaps ? ", gaps" : "")\(moveFactor > 1 ? ", then \(lanes * moveFactor) lanes" : "")\(hasLongStates ? ", long states" : "")\(hasDeadLetters ? ", dead letters" : "")\
    \(hasFailingTimers ? ", failing timers" : "")
    """
  }
}

/// Random numbers for a plan.
struct PlanGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 ^ 0x1F83_D9AB_FB41_BD6B }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
  mutating func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &self) < probability }
}
