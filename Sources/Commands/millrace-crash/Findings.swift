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
  /// Many notifications were done in one commit, so that the ledger has pages.
  var hasPages = false
  /// Why a notification may become a dead letter on the way.
  var deadly = "crashed-the-process"
}

struct Findings: Sendable {
  struct Event: Sendable, Hashable {
    var id: String
    var notification: String
    var process: Int
    /// Whether it is of the timer that the notification set.
    var isTimers = false
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
        let timed = Findings.notification(ofTimersEvent: notification)
        self = .event(
          Event(id: id, notification: timed ?? notification, process: Int(process), isTimers: timed != nil))
      } catch {
        self = .unreadable("the event \(id) of \(notification) is no object: \(error)")
      }
    }
  }

  /// By notification, whether it is to have an effect.
  var sent: [String: Bool] = [:]
  /// What a person put aside: nothing may come of it.
  var discarded: Set<String> = []
  var events: [Event] = []
  /// Reasons, by notification.
  var deadLetters: [String: String] = [:]
  /// What the ledger says, by its records' keys.
  var ledger: [[UInt8]: [UInt8]] = [:]
  /// Pages of the ledger.
  var pages = 0
  /// Digests of the notifications that stand on them, done.
  var onPages: Set<[UInt8]> = []
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
  static func timer(of notification: String) -> String { "remind/\(notification)" }

  /// The notification whose timer that is; nil for another name.
  static func notification(ofTimer name: String) -> String? {
    name.hasPrefix("remind/") ? String(name.dropFirst("remind/".count)) : nil
  }

  /// The notification whose timer an event follows from; nil where it follows from a notification.
  static func notification(ofTimersEvent cause: String) -> String? {
    let parts = cause.split(separator: "/")
    return parts.count == 4 && parts[0] == "timer" ? notification(ofTimer: "\(parts[1])/\(parts[2])") : nil
  }

  /// What is not as promised, in sentences.
  func faults(_ promise: Promise) -> [String] {
    var faults = trimmed.map { "\($0) was trimmed: the run is larger than the cluster" } + unreadable
    if strangers > 0 { faults.append("\(strangers) records among the events are none of this worker's") }
    if promise.hasPages, pages == 0 { faults.append("the ledger has no page: nothing was shown of pages") }
    let timers = Dictionary(grouping: events.filter(\.isTimers), by: \.notification)
    for id in timers.keys where sent[id] != true { faults.append("a timer of \(id) fired, and nobody set it") }
    let byNotification = Dictionary(grouping: events.filter { !$0.isTimers }, by: \.notification)
    for id in byNotification.keys where sent[id] == nil { faults.append("an event of \(id), which nobody sent") }
    for (id, hasEffect) in sent.sorted(by: { $0.key < $1.key }) {
      let own = byNotification[id] ?? []
      if discarded.contains(id) {
        faults += faultsOfDiscarded(id, own + (timers[id] ?? []))
        continue
      }
      if own.isEmpty { faults.append("\(id) has no event") }
      if Set(own.map(\.id)).count > 1 { faults.append("the events of \(id) have \(Set(own.map(\.id)).count) ids") }
      if promise.isExactlyOnce, own.count > 1 {
        faults.append(
          "\(id) has \(own.count) events, of processes \(own.map { "\($0.process)" }.joined(separator: ", "))")
      }
      if state(of: id) != .done { faults.append("the ledger says \(state(of: id)) of \(id)") }
      if hasEffect {
        faults += faultsOfEffect(of: id, promise)
        faults += faultsOfTimer(of: id, timers[id] ?? [], promise)
      }
    }
    if Set(events.map(\.id)).count != byNotification.count + timers.count {
      faults.append("two notifications, or timers, share a ce_id")
    }
    for name in effects.keys where !sent.contains(where: { $0.value && Self.effect(of: $0.key) == name }) {
      faults.append("\(name) was called, and nobody asked for it")
    }
    return faults
  }

  private func faultsOfDiscarded(_ id: String, _ events: [Event]) -> [String] {
    var faults: [String] = []
    if !events.isEmpty { faults.append("\(id) was put aside and has \(events.count) events") }
    if effects[Self.effect(of: id)] != nil { faults.append("\(id) was put aside and its effect was caused") }
    if state(of: id) != .dead { faults.append("\(id) was put aside, and the ledger says \(state(of: id)) of it") }
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

  private func faultsOfTimer(of id: String, _ fired: [Event], _ promise: Promise) -> [String] {
    var faults: [String] = []
    if fired.isEmpty { faults.append("the timer of \(id) never fired") }
    if Set(fired.map(\.id)).count > 1 { faults.append("the events of the timer of \(id) have several ids") }
    if promise.isExactlyOnce, fired.count > 1 { faults.append("the timer of \(id) fired \(fired.count) times") }
    if isSet(Self.timer(of: id)) { faults.append("the ledger has the timer of \(id) still") }
    return faults
  }

  // MARK: - The ledger, read by its documented format and not with the worker's code

  enum State: String, Sendable {
    case unknown = "nothing"
    case done, parked, dead
  }

  /// Takes a record of the ledger's topic in, in the order of the topic.
  mutating func takeLedger(_ record: ConsumerRecord) {
    let key = record.key ?? []
    ledger[key] = record.value
    guard key.first == UInt8(ascii: "p"), let value = record.value else { return }
    pages += 1
    guard value.first == 1, value.count % Self.lineBytes == 1 else {
      return unreadable.append("a page of the ledger has \(value.count) bytes")
    }
    for start in stride(from: 1, to: value.count, by: Self.lineBytes) {
      onPages.insert(Array(value[start..<start + 16]))
    }
  }

  /// On a page a notification is its digest, a minute and the digest of its outcome.
  private static let lineBytes = 24

  /// Its own record is newer than any page that it stands on.
  func state(of id: String) -> State {
    let digest = Array(SHA256.hash(data: Array(id.utf8)).prefix(16))
    guard let value = ledger[[UInt8(ascii: "h")] + digest] else { return onPages.contains(digest) ? .done : .unknown }
    guard value.count > 1, value[0] == 1 else { return .unknown }
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

  private func isSet(_ timer: String) -> Bool { ledger[[UInt8(ascii: "t")] + Array(timer.utf8)] != nil }

  /// Notifications that the worker is not done with, as its ledger has it, and that nobody put aside.
  var unfinished: [String] {
    sent.keys.filter { !discarded.contains($0) && (state(of: $0) != .done || isSet(Self.timer(of: $0))) }
  }

  /// The run in numbers.
  var summary: String {
    let withEffect = sent.count { $0.value && !discarded.contains($0.key) }
    let calls = effects.values.reduce(0) { $0 + $1.calls }
    let twice = events.count - Set(events.map(\.id)).count
    let fired = Set(events.filter(\.isTimers).map(\.notification)).count
    return """
      \(sent.count) notifications, \(events.count) events (\(twice) repeated), \(withEffect) effects by \(calls) calls, \
      \(fired) timers, \(onPages.count) notifications on \(pages) pages, \(deadLetters.count) dead letters on the way
      """
  }
}
