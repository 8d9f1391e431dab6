// Compares the simulator's report with its file of attempts and with Kafka.
import AppStore
import AppStoreSigning
import KafkaClient
import MillraceRecords
import ScenarioRig

struct SimulatorTally {
  /// Sent notifications by type and subtype; version 1 types begin with `V1 `.
  var sent: [String: Int] = [:]
  var acknowledged: Int
  var abandoned: Int
  /// The ingress's answers by HTTP status.
  var answers: [String: Int] = [:]

  /// Parses the output of `appstore-simulator run --report`.
  init(report: JSONObject) throws {
    guard case .object(let notifications)? = report["notifications"],
      let acknowledged = notifications.number("acknowledged"), let abandoned = notifications.number("abandoned"),
      let sent = notifications.numbers("sentByType"), let answers = notifications.numbers("answers")
    else { throw RunError("the simulator's report has no counts of sent notifications") }
    self.acknowledged = Int(acknowledged)
    self.abandoned = Int(abandoned)
    self.sent = sent
    self.answers = answers
  }

  /// A sentence for each difference between the report, the journal and the topics.
  func faults(journal: [JournalEntry], notifications: [ConsumerRecord]) -> [String] {
    var faults: [String] = []
    func compare(_ what: String, _ report: Int, _ found: Int, _ place: String) {
      if report != found { faults.append("\(what): \(report) in the simulator's report, \(found) \(place)") }
    }
    let genuine = journal.filter(\.group.isGenuine)
    let begun = genuine.filter { $0.isFirst && $0.status != 0 }
    // A record that was written twice counts as one notification.
    let distinct = Dictionary(notifications.map { ($0.value ?? [], Self.name(of: $0)) }) { first, _ in first }
    for type in Set(sent.keys).union(distinct.values).sorted() {
      compare("\(type) sent", sent[type] ?? 0, begun.count { $0.label == type }, "in its file of attempts")
      compare("\(type) sent", sent[type] ?? 0, distinct.values.count { $0 == type }, "different ones in Kafka")
    }
    let accepted = genuine.filter { $0.status == 200 }
    compare("acknowledged", acknowledged, Set(accepted.map(\.value)).count, "in its file of attempts")
    compare("answered 200", answers["200"] ?? 0, accepted.count, "in its file of attempts")
    if abandoned > 0 { faults.append("the simulator gave up on \(abandoned) notifications") }
    return faults
  }

  /// The notification types that the simulator did not send.
  var missing: [String] {
    let live = NotificationTypeV1.allKnown.filter { $0 != .renewal }
    return (SampleKind.all.map(\.description) + live.map { "V1 " + $0.rawValue }).filter { sent[$0] == nil }
  }

  private static func name(of record: ConsumerRecord) -> String {
    let envelope = NotificationEnvelope(record)
    let type = envelope.notificationType ?? "?"
    return envelope.version == .v1 ? "V1 " + type : type + (envelope.subtype.map { "/" + $0.rawValue } ?? "")
  }
}
