// What was sent and what came of it, in numbers.

public import AppStore
internal import AppStoreSigning

/// Deliveries so far.
public struct DeliveryTally: Sendable, Hashable {
  /// Notifications whose first attempt was made, by type and subtype; version 1 by its types.
  public internal(set) var sent: [String: Int] = [:]
  /// Attempts by how they ended, duplicates included.
  public internal(set) var attempts: [SendAttemptResult: Int] = [:]
  /// Answers by HTTP status.
  public internal(set) var answers: [Int: Int] = [:]
  /// Notifications that were acknowledged.
  public internal(set) var acknowledged = 0
  /// Notifications that Apple gave up on.
  public internal(set) var abandoned = 0
  /// Notifications that the world forgot before they were acknowledged (``WorldLimits/notifications``).
  public internal(set) var forgotten = 0
  /// Attempts after the first.
  public internal(set) var retries = 0
  /// Notifications sent again on purpose.
  public internal(set) var duplicates = 0
  /// Notifications of apps without a URL, or that version 1 does not know.
  public internal(set) var unaddressed = 0
  /// Deliveries that are planned or under way.
  public internal(set) var waiting = 0

  /// Nothing yet.
  public init() {}

  /// All first attempts.
  public var sentCount: Int { sent.values.reduce(0, +) }

  mutating func count(_ delivery: Delivery, kind: SampleKind, outcome: PostOutcome) {
    attempts[outcome.result, default: 0] += 1
    if let status = outcome.status { answers[status, default: 0] += 1 }
    if delivery.isDuplicate {
      duplicates += 1
    } else if delivery.attempts > 0 {
      retries += 1
    } else {
      sent[delivery.type(kind), default: 0] += 1
    }
  }
}

extension Delivery {
  /// The name that reports use for what is sent.
  func type(_ kind: SampleKind) -> String { typeV1.map { "V1 " + $0.rawValue } ?? kind.description }
}

extension DeliveryTally {
  /// The numbers as JSON.
  public var json: JSONObject {
    [
      "sent": .integer(Int64(sentCount)),
      "sentByType": .object(Self.counts(sent)),
      "acknowledged": .integer(Int64(acknowledged)),
      "abandoned": .integer(Int64(abandoned)),
      "forgotten": .integer(Int64(forgotten)),
      "waiting": .integer(Int64(waiting)),
      "retries": .integer(Int64(retries)),
      "duplicates": .integer(Int64(duplicates)),
      "unaddressed": .integer(Int64(unaddressed)),
      "attempts": .object(Self.counts(Dictionary(uniqueKeysWithValues: attempts.map { ($0.key.rawValue, $0.value) }))),
      "answers": .object(Self.counts(Dictionary(uniqueKeysWithValues: answers.map { (String($0.key), $0.value) }))),
    ]
  }

  private static func counts(_ counts: [String: Int]) -> JSONObject {
    JSONObject(
      counts.sorted { $0.key < $1.key }.map { JSONObject.Member(key: $0.key, value: .integer(Int64($0.value))) })
  }
}
