// Compares the results of a run, in Kafka and at the endpoint, with the notifications that were sent. Pure.

import AppStore
import Crypto
import KafkaClient
import MillraceWorker
import ScenarioRig

/// The guarantees that a scenario checks.
struct Promise: Sendable {
  /// A `read_committed` reader finds exactly one event per notification; otherwise at least one, all with the same
  /// `ce_id`.
  var isExactlyOnce = false
  /// Every effect was called once; otherwise calls may be repeated with the same bytes.
  var isCalledOnce = false
  /// Many notifications were committed together, so the ledger has pages.
  var hasPages = false
  /// The only reason for which a notification may become a dead letter during the run.
  var deadly = "crashed-the-process"
}

struct Findings: Sendable {
  struct Event: Sendable, Hashable {
    var id: String
    var notification: String
    var process: Int
    /// 1 for the first renewal of a subscription, 2 for the second, and so on, if the worker counts them.
    var number: Int?
    /// Whether it belongs to the timer that the notification set.
    var isTimers = false
  }

  /// The kind of a record on the event topic.
  enum Found: Sendable {
    case event(Event)
    /// A record with the headers of an event but an invalid value.
    case unreadable(String)
    /// A record of another producer.
    case stranger

    init(_ record: ConsumerRecord) {
      guard let id = record.text("ce_id"), let notification = record.text("ce_notificationid") else {
        self = .stranger
        return
      }
      do {
        let content = try JSONObject(parsing: record.value ?? [])
        guard case .integer(let process)? = content["process"] else {
          self = .unreadable("the event \(id) of \(notification) has no process")
          return
        }
        let timed = Findings.notification(ofTimersEvent: notification)
        self = .event(
          Event(
            id: id, notification: timed ?? notification, process: Int(process),
            number: content.number("number").map { Int($0) }, isTimers: timed != nil))
      } catch {
        self = .unreadable("the event \(id) of \(notification) is not an object: \(error)")
      }
    }
  }

  /// Whether each sent notification has an effect.
  var sent: [String: Bool] = [:]
  /// The notifications that the operator discarded. They must have no effect.
  var discarded: Set<String> = []
  var events: [Event] = []
  /// The reasons of dead letters, by notification.
  var deadLetters: [String: String] = [:]
  /// The ledger's values, by record key.
  var ledger: [[UInt8]: [UInt8]] = [:]
  /// The number of ledger pages.
  var pages = 0
  /// The digests of the notifications that the pages list as done.
  var onPages: Set<[UInt8]> = []
  /// The calls received, by name of the effect.
  var effects: [String: CountingEndpoint.Effect] = [:]
  /// The partitions whose oldest records retention has deleted, so they cannot be checked.
  var trimmed: [String] = []
  /// The notifications with a record in a retry topic.
  var delayed: Set<String> = []
  /// The number of foreign records on the event topic.
  var strangers = 0
  /// The problems of unreadable events.
  var unreadable: [String] = []

  /// Adds a record of the event topic.
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

  /// The notification of a timer; nil if the name is not a timer's.
  static func notification(ofTimer name: String) -> String? {
    name.hasPrefix("remind/") ? String(name.dropFirst("remind/".count)) : nil
  }

  /// The notification whose timer caused an event; nil if a notification caused it.
  static func notification(ofTimersEvent cause: String) -> String? {
    let parts = cause.split(separator: "/")
    return parts.count == 4 && parts[0] == "timer" ? notification(ofTimer: "\(parts[1])/\(parts[2])") : nil
  }

  /// A sentence for each violated guarantee.
  func faults(_ promise: Promise) -> [String] {
    var faults = trimmed.map { "\($0) was trimmed: the run is larger than the cluster" } + unreadable
    if strangers > 0 { faults.append("\(strangers) records on the event topic are not from this worker") }
    if promise.hasPages, pages == 0 { faults.append("the ledger has no pages, so pages were not tested") }
    let timers = Dictionary(grouping: events.filter(\.isTimers), by: \.notification)
    for id in timers.keys where sent[id] != true { faults.append("a timer of \(id) fired but was never set") }
    let byNotification = Dictionary(grouping: events.filter { !$0.isTimers }, by: \.notification)
    for id in byNotification.keys where sent[id] == nil { faults.append("an event of \(id), which was never sent") }
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
          "\(id) has \(own.count) events, from processes \(own.map { "\($0.process)" }.joined(separator: ", "))")
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
    let wanted = Set(sent.filter(\.value).keys.map(Self.effect(of:)))
    for name in effects.keys where !wanted.contains(name) {
      faults.append("\(name) was called without a notification")
    }
    return faults
  }

  private func faultsOfDiscarded(_ id: String, _ events: [Event]) -> [String] {
    var faults: [String] = []
    if !events.isEmpty { faults.append("\(id) was discarded but has \(events.count) events") }
    if effects[Self.effect(of: id)] != nil { faults.append("\(id) was discarded but its effect was called") }
    if state(of: id) != .dead { faults.append("\(id) was discarded, but the ledger says \(state(of: id))") }
    return faults
  }

  private func faultsOfEffect(of id: String, _ promise: Promise) -> [String] {
    guard let effect = effects[Self.effect(of: id)] else { return ["the effect of \(id) was never called"] }
    var faults: [String] = []
    if effect.bodies.count != 1 { faults.append("the effect of \(id) was sent as \(effect.bodies.count) bodies") }
    if promise.isCalledOnce, effect.calls != 1 { faults.append("the effect of \(id) was called \(effect.calls) times") }
    if !isEnded(Self.effect(of: id)) { faults.append("the ledger has no result of \(Self.effect(of: id))") }
    return faults
  }

  private func faultsOfTimer(of id: String, _ fired: [Event], _ promise: Promise) -> [String] {
    var faults: [String] = []
    if fired.isEmpty { faults.append("the timer of \(id) never fired") }
    if Set(fired.map(\.id)).count > 1 { faults.append("the events of the timer of \(id) have several ids") }
    if promise.isExactlyOnce, fired.count > 1 { faults.append("the timer of \(id) fired \(fired.count) times") }
    if isSet(Self.timer(of: id)) { faults.append("the ledger still has the timer of \(id)") }
    return faults
  }

  // MARK: - The ledger, parsed by its documented format and not with the worker's code

  enum State: String, Sendable {
    case unknown = "nothing"
    case done, delayed, dead
  }

  /// Adds a record of the ledger topic, in order.
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

  /// The bytes of one notification on a page: its digest, a minute and the digest of its outcome.
  private static let lineBytes = 24

  /// The state of a notification. Its own record is newer than any page that lists it.
  func state(of id: String) -> State {
    let digest = Array(SHA256.hash(data: Array(id.utf8)).prefix(16))
    guard let value = ledger[[UInt8(ascii: "h")] + digest] else { return onPages.contains(digest) ? .done : .unknown }
    guard value.count > 1, value[0] == 1 else { return .unknown }
    switch value[1] {
    case 1: return .done
    case 2: return .delayed
    case 3: return .dead
    default: return .unknown
    }
  }

  private func isEnded(_ effect: String) -> Bool {
    let value = ledger[[UInt8(ascii: "e")] + Array(effect.utf8)] ?? []
    return value.count > 1 && value[0] == 1 && value[1] == 2
  }

  private func isSet(_ timer: String) -> Bool { ledger[[UInt8(ascii: "t")] + Array(timer.utf8)] != nil }

  /// The notifications that the ledger does not list as done, except discarded ones.
  var unfinished: [String] {
    sent.keys.filter { !discarded.contains($0) && (state(of: $0) != .done || isSet(Self.timer(of: $0))) }
  }

  /// A sentence for each notification that is not finished, or has an event twice, with its ledger entry.
  ///
  /// An event is lost for good if it is missing although the ledger says "done" (for a timer's event: and no longer has
  /// the timer), or says "delayed" and no retry topic has the notification.
  var unsettled: [String] {
    let counts = Dictionary(events.map { ($0.notification, 1) }, uniquingKeysWith: +)
    let timers = Dictionary(events.filter(\.isTimers).map { ($0.notification, 1) }, uniquingKeysWith: +)
    return sent.sorted { $0.key < $1.key }.compactMap { id, hasEffect in
      let (state, hasTimer) = (state(of: id), isSet(Self.timer(of: id)))
      let fired = timers[id] ?? 0
      let own = (counts[id] ?? 0) - fired
      let isFinished = own == 1 && fired == (hasEffect ? 1 : 0) && state == .done && !hasTimer
      guard !isFinished, !discarded.contains(id) else { return nil }
      return """
        \(id): \(own) events\(hasEffect ? ", \(fired) of its timer" : ""); the ledger says \(state.rawValue)\
        \(hasTimer ? " and has the timer" : "")\
        \(state == .delayed && !delayed.contains(id) ? ", but no retry topic has it" : "")
        """
    }
  }

  /// The run's counts.
  var summary: String {
    let withEffect = sent.count { $0.value && !discarded.contains($0.key) }
    let calls = effects.values.reduce(0) { $0 + $1.calls }
    let twice = events.count - Set(events.map(\.id)).count
    let fired = Set(events.filter(\.isTimers).map(\.notification)).count
    return """
      \(sent.count) notifications, \(events.count) events (\(twice) repeated), \(withEffect) effects by \(calls) \
      calls, \(fired) timers, \(onPages.count) notifications on \(pages) pages, \(deadLetters.count) dead letters on \
      the way
      """
  }
}
