// Counts deliveries and their outcomes.

package import AppStore
internal import AppStoreSigning

/// The deliveries so far.
package struct DeliveryTally: Sendable, Hashable {
  /// The number of first attempts by type and subtype; for version 1 by its own type.
  package internal(set) var sent: [String: Int] = [:]
  /// The number of attempts by result, including duplicates.
  package internal(set) var attempts: [SendAttemptResult: Int] = [:]
  /// The number of responses by HTTP status.
  package internal(set) var answers: [Int: Int] = [:]
  /// The number of acknowledged notifications.
  package internal(set) var acknowledged = 0
  /// The number of notifications that Apple gave up on.
  package internal(set) var abandoned = 0
  /// The number of notifications that the world dropped before they were acknowledged (``WorldLimits/notifications``).
  package internal(set) var forgotten = 0
  /// The number of attempts after the first.
  package internal(set) var retries = 0
  /// The number of deliberate duplicates.
  package internal(set) var duplicates = 0
  /// The number of notifications that have no URL or no version 1 equivalent.
  package internal(set) var unaddressed = 0
  /// The number of deliveries that are scheduled or in progress.
  package internal(set) var waiting = 0

  /// An empty tally.
  package init() {}

  /// The number of all first attempts.
  var sentCount: Int { sent.values.reduce(0, +) }

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
  /// The name of the notification in reports.
  func type(_ kind: SampleKind) -> String { typeV1.map { "V1 " + $0.rawValue } ?? kind.description }
}

extension DeliveryTally {
  /// The counts as JSON.
  package var json: JSONObject {
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
