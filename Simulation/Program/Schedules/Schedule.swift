// Small stories about Kafka, each with its outcome. They are played on the models and on a real Kafka; the models are
// right as far as both end as the story says.

internal import KafkaClient
internal import MillraceRecords

struct Schedule: Sendable {
  /// A request of a transactional producer that arrives late: the connection breaks, the client repeats the request, and
  /// the first copy arrives at a moment that the schedule chooses (`../shared/tools/kafka-delay`).
  struct Hold: Sendable {
    enum Release: Sendable {
      /// Once the repeated request and so many more requests of the producer were answered. The last of these answers
      /// reaches the client after the held request has arrived.
      case afterAnswers(Int)
      /// As soon as the connection has broken, so the request was applied and its answer is lost.
      case atOnce
    }

    var kind: RequestKind
    var release: Release
  }

  var name: String
  var hold: Hold?
  /// The lines that both sides must report. A call that succeeds adds no line.
  var outcome: [String]
  var play: @Sendable (Stage) async throws -> Void

  init(
    _ name: String, holding kind: RequestKind? = nil, _ release: Hold.Release = .atOnce, ends outcome: [String],
    _ play: @escaping @Sendable (Stage) async throws -> Void
  ) {
    (self.name, self.outcome, self.play) = (name, outcome, play)
    hold = kind.map { Hold(kind: $0, release: release) }
  }

  /// A story of one producer in a topic, whose committed records are then reported.
  static func withProducer(
    _ name: String, holding kind: RequestKind? = nil, _ release: Hold.Release = .atOnce,
    timeout: Duration = .seconds(60), ends outcome: [String],
    _ play: @escaping @Sendable (Stage, Producer) async throws -> Void
  ) -> Schedule {
    Schedule(name, holding: kind, release, ends: outcome) { stage in
      try await stage.topic()
      try await play(stage, try await stage.producer(timeout: timeout))
      await stage.read()
    }
  }

  static let all: [Schedule] = transactions + lateRequests + lostAnswers + misuse + groups + nodes
}

/// The Kafka that a schedule is played on.
protocol Kafka: Sendable {
  var log: any RecordLog { get }
  func create(_ topic: String, partitions: Int) async throws
  /// Deletes a topic and creates it again, empty.
  func recreate(_ topic: String) async throws
  func wait(_ duration: Duration) async
  /// Holds the schedule's kind of request from now on, or no longer.
  func hold(_ isHolding: Bool) async
  /// Waits until the held request has arrived.
  /// - Returns: The error code of its answer; nil for requests whose answers kafka-delay does not read.
  func heldAnswer() async -> String?
  /// Stops the node that serves something, and waits until another one serves it.
  func stopNode(of place: Place) async
  /// Starts the stopped nodes, and waits until all are in sync.
  func startNodes() async
  /// Lets no message pass for a time; afterwards they arrive.
  func silence(_ duration: Duration) async
}

/// Something that a node serves.
enum Place: Sendable {
  case group(String)
  case transactions(String)
  case leader(TopicPartition)
}
