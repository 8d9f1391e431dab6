// Performs the events of a scenario at their times, one subject after another.

internal import AppStore
internal import MillraceTime
internal import Synchronization

/// The progress of an event.
package struct EventOutcome: Sendable, Hashable {
  /// The action.
  package let name: String
  /// The number of times the event was planned to happen.
  package internal(set) var wanted: Int
  /// The number of times it has happened.
  package internal(set) var done = 0
  /// The reason it happened fewer times than planned; nil if there is none.
  package internal(set) var problem: String?
}

/// Schedules and performs events.
final class EventPlayer: Sendable {
  private let world: World
  private let customerAsks: @Sendable (Int64, ConsumptionRequestReason, Timestamp) throws(WorldError) -> Void
  private let massExtension: @Sendable (JSONObject, RealmID, Timestamp) -> String?
  private let mostOver: Int
  private let state = Mutex(State())

  private struct State: Sendable {
    var outcomes: [Int: EventOutcome] = [:]
    var next = 0
    /// Unfinished events that were triggered through the control API.
    var caused: Set<Int> = []
    /// Finished events that were triggered through the control API, oldest first.
    var over: [Int] = []

    mutating func end(_ index: Int, _ problem: String? = nil, atMost most: Int) {
      if let problem { outcomes[index]?.problem = problem }
      guard caused.remove(index) != nil else { return }
      over.append(index)
      guard over.count > most else { return }
      outcomes[over.removeFirst()] = nil
    }
  }

  /// - Parameters:
  ///   - customerAsks: called when a customer requests a refund.
  ///   - massExtension: called when the team requests a mass extension; returns the problem with the request, if any.
  ///   - mostOver: the number of outcomes to keep of finished events that were triggered through the control API.
  init(
    world: World,
    customerAsks: @escaping @Sendable (Int64, ConsumptionRequestReason, Timestamp) throws(WorldError) -> Void,
    massExtension: @escaping @Sendable (JSONObject, RealmID, Timestamp) -> String? = { _, _, _ in
      "mass extension requests are not handled"
    }, mostOver: Int = 1_000
  ) {
    self.world = world
    self.mostOver = mostOver
    self.customerAsks = customerAsks
    self.massExtension = massExtension
  }

  /// The outcomes in the order the events were scheduled. Of finished events from the control API, only the newest are
  /// kept.
  var outcomes: [EventOutcome] { state.withLock { $0.outcomes.sorted { $0.key < $1.key }.map(\.value) } }

  /// Schedules an event relative to `origin`.
  ///
  /// - Parameter isCaused: whether it was triggered through the control API. The scenario's own events are always
  ///   reported.
  func schedule(_ event: ScenarioEvent, origin: Timestamp, isCaused: Bool = false) {
    let index = state.withLock { state in
      defer { state.next += 1 }
      if isCaused { state.caused.insert(state.next) }
      state.outcomes[state.next] = EventOutcome(name: event.name, wanted: 0)
      return state.next
    }
    world.schedule(at: origin + event.after) { _, now in self.begin(event, index, at: now) }
  }

  private func begin(_ event: ScenarioEvent, _ index: Int, at now: Timestamp) {
    guard let realm = world.withState({ $0.realm(event.target) }) else {
      return end(index, "the scenario has no such app in that environment")
    }
    let count =
      switch event.count {
      case .times(let times): event.action.isForAll ? 1 : times
      case .share(let share):
        Int((share * Double(world.withState { $0.realms[realm].customers.count })).rounded())
      }
    state.withLock { $0.outcomes[index]?.wanted = count }
    guard count > 0 else { return end(index) }
    if case .behave(let behaviour) = event.action {
      let before = world.withState { state in
        defer { state.behaviour = behaviour }
        return state.behaviour
      }
      if event.spread > .zero {
        world.schedule(at: now + event.spread) { world, _ in world.withState { $0.behaviour = before } }
      }
      countOnce(index)
      return end(index)
    }
    if case .massExtend(let days, let reasonCode) = event.action {
      var body: JSONObject = [
        "requestIdentifier": .string(Self.requestIdentifier(of: index)), "extendByDays": .integer(Int64(days)),
        "extendReasonCode": .integer(reasonCode), "productId": .string(event.target.productId ?? ""),
      ]
      if let storefronts = event.target.storefronts {
        body["storefrontCountryCodes"] = .array(storefronts.map { .string($0) })
      }
      let problem = massExtension(body, realm, now)
      if problem == nil { countOnce(index) }
      return end(index, problem)
    }
    let customers = world.withState { $0.realms[realm].customers.count }
    let run = Run(event: event, index: index, realm: realm, start: now, count: count, customers: customers)
    step(run, number: 0, cursor: 0, at: now)
  }

  /// A UUID that is the same for the same request in every run of a scenario.
  private static func requestIdentifier(of index: Int) -> String {
    let digits = String(index)
    return "00000000-0000-4000-8000-" + String(repeating: "0", count: max(0, 12 - digits.count)) + digits
  }

  private struct Run: Sendable {
    let event: ScenarioEvent
    let index: Int
    let realm: RealmID
    let start: Timestamp
    let count: Int
    /// The number of customers when the event began.
    let customers: Int

    /// Each event starts at a different customer, so that events do not all affect the same few.
    func place(_ cursor: Int) -> Int { (cursor + index * 7_919) % max(1, customers) }
  }

  /// Performs the event once and schedules the next occurrence. An event with a million occurrences takes one queue
  /// entry.
  private func step(_ run: Run, number: Int, cursor: Int, at now: Timestamp) {
    var (number, cursor) = (number, cursor)
    while number < run.count {
      let due = run.start + run.event.spread * (Double(number) / Double(run.count))
      guard due <= now else {
        let (nextNumber, nextCursor) = (number, cursor)
        world.schedule(at: due) { _, now in self.step(run, number: nextNumber, cursor: nextCursor, at: now) }
        return
      }
      do throws(WorldError) {
        guard try perform(run, cursor: &cursor, at: due) else {
          return end(run.index, "no customer is left that it can happen to")
        }
      } catch {
        return end(run.index, error.description)
      }
      countOnce(run.index)
      number += 1
    }
    end(run.index)
  }

  private func countOnce(_ index: Int) { state.withLock { $0.outcomes[index]?.done += 1 } }

  private func end(_ index: Int, _ problem: String? = nil) {
    state.withLock { $0.end(index, problem, atMost: mostOver) }
  }

  /// - Returns: false if no remaining customer is in a state that the event applies to.
  private func perform(
    _ run: Run, cursor: inout Int, at now: Timestamp
  ) throws(WorldError) -> Bool {
    if let result = try performAlone(run.event, in: run.realm, cursor: cursor, at: now) {
      cursor += 1
      return result
    }
    while cursor < run.customers {
      defer { cursor += 1 }
      do throws(WorldError) {
        if try perform(run.event, for: run.place(cursor), in: run.realm, at: now) { return true }
      } catch .impossible {
        // The action does not apply to this customer; try the next one.
        continue
      }
    }
    return false
  }

  /// Performs an action that needs no existing customer. Returns nil for any other action.
  private func performAlone(
    _ event: ScenarioEvent, in realm: RealmID, cursor: Int, at now: Timestamp
  ) throws(WorldError) -> Bool? {
    try world.withState { state throws(WorldError) in
      switch event.action {
      case .purchase(let offer):
        let places = event.target.storefronts ?? ["USA"]
        let customer = try state.addCustomer(to: realm, storefront: places[cursor % places.count], at: now)
        try state.purchase(
          event.target.productId ?? "", by: customer, offer: offer,
          appAccountToken: CompactUUID(using: &state.generator), at: now)
      case .createToken(let type): state.createExternalPurchaseToken(in: realm, type: type, at: now)
      case .remindOfToken(let isUnreported):
        let tokens = state.realms[realm].tokens
        guard tokens.indices.contains(cursor) else { return false }
        try state.remindOfExternalPurchaseToken(
          tokens[cursor].id, in: realm, isUnreported: isUnreported, at: now)
      case .test: state.requestTest(in: realm, at: now)
      case .setForSale(let isForSale): try state.setForSale(event.target.productId ?? "", in: realm, isForSale)
      case .send(let kind): try state.send(kind, in: realm, at: now)
      default: return nil
      }
      return true
    }
  }

  private func perform(
    _ event: ScenarioEvent, for place: Int, in realm: RealmID, at now: Timestamp
  ) throws(WorldError) -> Bool {
    let candidate = world.withState { $0.candidate(event, at: place, in: realm) }
    guard let candidate else { return false }
    if case .requestRefund(let reason) = event.action {
      guard let transaction = candidate.transaction else { return false }
      try customerAsks(transaction, reason, now)
      return true
    }
    return try world.withState { state throws(WorldError) in
      try state.perform(event.action, for: candidate, at: now)
    }
  }
}

extension ScenarioAction {
  /// Whether the action applies to a whole app, so that repeating it has no effect.
  fileprivate var isForAll: Bool {
    switch self {
    case .setForSale, .behave: true
    default: false
    }
  }
}
