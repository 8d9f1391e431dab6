// What a run left in Kafka and in the world, held against what was sent. Values only.

import AppStore
import Crypto
import Kafka
import Millrace
import Processes

/// What must hold in the end, whatever was done to the processes.
struct Promise: Sendable {
  /// A `read_committed` reader finds one event for each notification; else at least one, all with one `ce_id`.
  var isExactlyOnce = false
  /// No call went out twice; else the same bytes may have.
  var isCalledOnce = false
}

struct Findings: Sendable {
  struct Event: Sendable, Hashable {
    var id: String
    var notification: String
    var process: Int
  }

  /// What a record among the events is.
  enum Found: Sendable {
    case event(Event)
    /// It has the headers of an event and a value that is none.
    case unreadable(String)
    /// It is none of this worker's.
    case stranger

    init(_ record: ConsumerRecord) {
      guard let id = record.text("ce_id"), let notification = record.text("ce_notificationid") else {
        self = .stranger
        return
      }
      do {
        guard case .integer(let process)? = try JSONObject(parsing: record.value ?? [])["process"] else {
          self = .unreadable("the event \(id) of \(notification) names no process")
          return
        }
        self = .event(Event(id: id, notification: notification, process: Int(process)))
      } catch {
        self = .unreadable("the event \(id) of \(notification) is no object: \(error)")
      }
    }
  }

  /// By notification, whether it is to have an effect.
  var sent: [String: Bool] = [:]
  var events: [Event] = []
  /// Reasons, by notification.
  var deadLetters: [String: String] = [:]
  /// What the ledger says, by its records' keys.
  var ledger: [[UInt8]: [UInt8]] = [:]
  /// What came, by the effect's name.
  var effects: [String: World.Effect] = [:]
  /// Partitions whose oldest records are gone: what was in them cannot be held against anything.
  var trimmed: [String] = []
  /// Records on the events' topic that are no events.
  var strangers = 0
  /// What is wrong with events that cannot be read.
  var unreadable: [String] = []

  /// Takes a record of the events' topic in.
  mutating func take(_ record: ConsumerRecord) {
    switch Found(record) {
    case .event(let event): events.append(event)
    case .unreadable(let why): unreadable.append(why)
    case .stranger: strangers += 1
    }
  }
}

extension Findings {
  static func effect(of notification: String) -> String { "extend/\(notification)" }

  /// What is not as promised, in sentences.
  func faults(_ promise: Promise) -> [String] {
    var faults = trimmed.map { "\($0) was trimmed: the run is larger than the cluster" } + unreadable
    if strangers > 0 { faults.append("\(strangers) records among the events are none of this worker's") }
    let byNotification = Dictionary(grouping: events, by: \.notification)
    for id in byNotification.keys where sent[id] == nil { faults.append("an event of \(id), which nobody sent") }
    for (id, hasEffect) in sent.sorted(by: { $0.key < $1.key }) {
      let own = byNotification[id] ?? []
      if own.isEmpty { faults.append("\(id) has no event") }
      if Set(own.map(\.id)).count > 1 { faults.append("the events of \(id) have \(Set(own.map(\.id)).count) ids") }
      if promise.isExactlyOnce, own.count > 1 {
        faults.append(
          "\(id) has \(own.count) events, of processes \(own.map { "\($0.process)" }.joined(separator: ", "))")
      }
      if state(of: id) != .done { faults.append("the ledger says \(state(of: id)) of \(id)") }
      if hasEffect { faults += faultsOfEffect(of: id, promise) }
    }
    if Set(events.map(\.id)).count != byNotification.count { faults.append("two notifications share a ce_id") }
    for name in effects.keys where !sent.contains(where: { $0.value && Self.effect(of: $0.key) == name }) {
      faults.append("\(name) was called, and nobody asked for it")
    }
    return faults
  }

  private func faultsOfEffect(of id: String, _ promise: Promise) -> [String] {
    guard let effect = effects[Self.effect(of: id)] else { return ["the effect of \(id) was never caused"] }
    var faults: [String] = []
    if effect.bodies.count != 1 { faults.append("the effect of \(id) went out with \(effect.bodies.count) bodies") }
    if promise.isCalledOnce, effect.calls != 1 { faults.append("the effect of \(id) was called \(effect.calls) times") }
    if !isEnded(Self.effect(of: id)) { faults.append("the ledger does not know that \(Self.effect(of: id)) ended") }
    return faults
  }

  // MARK: - The ledger, read by its documented format and not with the worker's code

  enum State: String, Sendable {
    case unknown = "nothing"
    case done, parked, dead
  }

  func state(of id: String) -> State {
    let key = [UInt8(ascii: "h")] + SHA256.hash(data: Array(id.utf8)).prefix(16)
    guard let value = ledger[key], value.count > 1, value[0] == 1 else { return .unknown }
    switch value[1] {
    case 1: return .done
    case 2: return .parked
    case 3: return .dead
    default: return .unknown
    }
  }

  private func isEnded(_ effect: String) -> Bool {
    let value = ledger[[UInt8(ascii: "e")] + Array(effect.utf8)] ?? []
    return value.count > 1 && value[0] == 1 && value[1] == 2
  }

  /// Notifications that the worker is not done with, as its ledger has it.
  var unfinished: [String] { sent.keys.filter { state(of: $0) != .done } }

  /// The run in numbers.
  var summary: String {
    let withEffect = sent.values.count { $0 }
    let calls = effects.values.reduce(0) { $0 + $1.calls }
    let twice = events.count - Set(events.map(\.notification)).count
    return """
      \(sent.count) notifications, \(events.count) events (\(twice) repeated), \(withEffect) effects by \(calls) calls, \
      \(deadLetters.count) dead letters on the way
      """
  }
}
