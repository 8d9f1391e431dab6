// The network between clients and brokers. A request is one message and its answer another. A connection can break while
// a request is on its way, and the request can arrive nevertheless, much later.

internal import KafkaClient

/// The requests of clients, by Kafka's names.
enum RequestKind: String, CaseIterable, Sendable {
  case produce = "Produce"
  case fetch = "Fetch"
  case metadata = "Metadata"
  case listOffsets = "ListOffsets"
  case initProducerID = "InitProducerId"
  case addPartitions = "AddPartitionsToTxn"
  case addOffsets = "AddOffsetsToTxn"
  case transactionOffsets = "TxnOffsetCommit"
  case endTransaction = "EndTxn"
  case joinGroup = "JoinGroup"
  case heartbeat = "Heartbeat"
  case leaveGroup = "LeaveGroup"
  case commitOffsets = "OffsetCommit"
  case fetchOffsets = "OffsetFetch"
  case describeGroup = "DescribeGroups"

  /// Whether a late copy can change a transaction.
  var isTransactional: Bool {
    switch self {
    case .produce, .addPartitions, .addOffsets, .transactionOffsets, .endTransaction: true
    default: false
    }
  }
}

/// The faults of the network.
struct NetworkFaults: Sendable {
  /// The share of requests of each kind that are held back: the connection breaks, and the request arrives later.
  var held: [RequestKind: Double] = [:]
  /// How long a request is held back at most.
  var longestHold = Duration.seconds(4)
  /// The share of requests whose connection breaks after they arrived, before the answer.
  var lostAnswers = 0.0
  /// The share of requests that vanish without a sign, so that the client waits for its timeout.
  var silent = 0.0
  /// The usual one-way delay at most.
  var delay = Duration.milliseconds(2)
  /// The share of messages that take up to a hundred times as long, at most 30 s.
  var slow = 0.02

  static let none = NetworkFaults()
}

final class Network: @unchecked Sendable {
  enum Fate {
    case delivered, held(breaksAfter: Duration, arrivesAfter: Duration), answerLost, silent, scripted(HeldRequest)
  }

  var faults = NetworkFaults.none
  /// The request that a schedule holds back.
  var scripted: HeldRequest?
  /// The time until which no message arrives.
  var quietUntil = Duration.zero
  /// The requests that were held back, by kind.
  private(set) var heldCounts: [RequestKind: Int] = [:]

  func delay() -> Duration {
    let longest = SeedGenerator.chance(faults.slow) ? min(faults.delay * 100, .seconds(30)) : faults.delay
    let silence = max(.zero, quietUntil - Simulation.worldTime)
    return silence + SeedGenerator.duration(.microseconds(50)...longest)
  }

  /// The delay between brokers, which have no faults here.
  func brokerDelay() -> Duration { SeedGenerator.duration(.microseconds(50) ... .milliseconds(20)) }

  func fate(of kind: RequestKind, from client: String) -> Fate {
    if let scripted, scripted.takes(kind, of: client) { return .scripted(scripted) }
    if let share = faults.held[kind], SeedGenerator.chance(share) {
      heldCounts[kind, default: 0] += 1
      return .held(
        breaksAfter: SeedGenerator.duration(.zero ... .seconds(1)),
        arrivesAfter: SeedGenerator.duration(.zero...faults.longestHold))
    }
    if SeedGenerator.chance(faults.lostAnswers) { return .answerLost }
    return SeedGenerator.chance(faults.silent) ? .silent : .delivered
  }
}
