// A lane's ledger: which notifications were handled and which effects were performed.

internal import AppStore
internal import DequeModule

/// The ledger of one lane in memory.
///
/// It has two layers: entries that are in Kafka, and above them staged entries that wait for their commit. A lane
/// decides about a key's next record before the last outcome is committed, so it must see that outcome.
///
/// Staged entries are safe to use, because an aborted transaction is written again while the epoch lasts. When the
/// epoch ends, ``dropStaged()`` leaves only the entries that are in Kafka.
struct Ledger: Sendable {
  private struct Staged: Sendable {
    var entry: LedgerEntry
    /// The number of pending commits for this name. Only the last one removes the staged entry.
    var outstanding: Int
  }

  private struct StagedHandled: Sendable {
    var handled: Handled?
    var outstanding = 0

    mutating func stage(_ handled: Handled?) {
      self.handled = handled
      outstanding += 1
    }
  }

  private var handled = HandledTable()
  private var effects = EffectTable()
  private var counters: [String: Int64] = [:]
  private var tails: [LedgerKey: LedgerKey] = [:]
  private var states = CompactTable()
  private var erasures: [LedgerKey: Erasure] = [:]
  /// Whether an erasure has been staged.
  private var isErasing = false
  /// The names that were staged when a search for erased customers began, or since then; nil while there is no search.
  private var changed: Set<LedgerEntry.Name>?
  /// The timers that are in Kafka.
  private(set) var timers = TimerTable()
  /// The pages in the ledger topic, oldest first.
  private var pages = Deque<LedgerPage.ID>()
  private var staged: [LedgerEntry.Name: Staged] = [:]
  // Handled notifications are the most frequent entries, so they are indexed by key alone.
  private var stagedHandled: [LedgerKey: StagedHandled] = [:]
  private var performing: Set<String> = []

  init() {}

  // MARK: - What it keeps

  /// The number of notifications that are in Kafka.
  var count: Int { handled.count }
  /// Whether the last entry for a name waits for its commit.
  func isStaged(_ name: LedgerEntry.Name) -> Bool {
    if case .handled(let id) = name { stagedHandled[id] != nil } else { staged[name] != nil }
  }

  /// Whether a notification's entry is in Kafka.
  func isInKafka(_ id: LedgerKey) -> Bool { handled[id] != nil }

  /// The state of a notification; nil if the ledger does not know it.
  subscript(id: LedgerKey) -> Handled? {
    if let staged = stagedHandled[id] { return staged.handled }
    return handled[id]
  }

  /// Returns a timer that is set.
  func timer(_ name: String) -> LaneTimer? {
    if case .timer(_, let timer)? = staged[.timer(name)]?.entry { return timer }
    return timers[name]
  }

  /// Returns timers that are in Kafka and due, each one once.
  mutating func takeDueTimers(at now: Timestamp, upTo count: Int) -> [String] { timers.takeDue(at: now, upTo: count) }

  /// Lets a timer that was taken fire again from a time on.
  mutating func postponeTimer(_ name: String, until time: Timestamp) { timers.postpone(name, until: time) }

  /// Returns the value of a counter of this lane.
  func counter(_ name: String) -> Int64 {
    if case .counter(_, let count)? = staged[.counter(name)]?.entry { return count ?? 0 }
    return counters[name] ?? 0
  }

  /// Returns the entry that adds to a counter. Stage it before you ask for another.
  func adding(_ count: Int64, to name: String) -> LedgerEntry {
    .counter(name, counter(name).addingReportingOverflow(count).partialValue)
  }

  /// Returns the last waiting notification of a record key, for strict ordering.
  func tail(of key: LedgerKey) -> LedgerKey? {
    if case .tail(_, let last)? = staged[.tail(key)]?.entry { return last }
    return tails[key]
  }

  /// Returns the state that a handler stored under a name.
  func state(_ name: String) -> [UInt8]? { storedState(name)?.value }

  /// Returns a state with the record key that it belongs to.
  func storedState(_ name: String) -> StoredState? {
    #if PLANTED_FAULTS
      if PlantedFault.committedStatesOnly.isActive { return states[name].map { StoredState(valid: $0) } }
    #endif
    if case .state(_, let state)? = staged[.state(name)]?.entry { return state }
    return states[name].map { StoredState(valid: $0) }
  }

  /// Returns an effect; nil if it was never started.
  func effect(_ name: String) -> Effect? {
    if case .effect(_, let effect)? = staged[.effect(name)]?.entry { return effect }
    return effects[name]
  }

  // MARK: - How it changes

  /// Applies an entry of the ledger topic, in the topic's order.
  mutating func restore(_ entry: LedgerEntry) { apply(entry) }

  /// Applies a record of the ledger topic, in the topic's order.
  mutating func restore(_ record: LedgerRecord) throws(LedgerRecordError) {
    #if PLANTED_FAULTS
      switch try record.entry() {
      case .timer where PlantedFault.timersLostAtMove.isActive: return
      case .state where PlantedFault.statesLostAtMove.isActive: return
      case .handled where PlantedFault.doneLostAtMove.isActive: return
      case .page where PlantedFault.doneLostAtMove.isActive: return
      case .effect where PlantedFault.effectsLostAtMove.isActive: return
      case .tail where PlantedFault.tailsLostAtMove.isActive: return
      default: break
      }
    #endif
    // A large ledger has mostly states and timers. Decoding them would allocate memory several times for each.
    if !restoreInPlace(record) { restore(try record.entry()) }
  }

  /// Applies a state or a timer without decoding it.
  /// - Returns: False for every other record, and for one that has to be decoded to find out what is wrong with it.
  private mutating func restoreInPlace(_ record: LedgerRecord) -> Bool {
    guard let kind = record.kindInPlace, let value = record.value else { return false }
    return record.key.withUnsafeBufferPointer { key in
      value.withUnsafeBufferPointer { value in
        let name = UnsafeBufferPointer(rebasing: key.dropFirst())
        let stored = UnsafeBufferPointer(rebasing: value.dropFirst())
        // Only UTF-8 is valid, and names are ASCII as a rule.
        guard name.allSatisfy({ $0 < 0x80 }) else { return false }
        switch kind {
        case .state:
          guard StoredState.isValid(stored) else { return false }
          _ = states.set(utf8: name, stored)
          return true
        case .timer: return timers.restore(utf8: name, stored)
        }
      }
    }
  }

  /// Adds a decision to the staged layer. ``dropStaged()`` removes it unless it is settled before.
  mutating func stage(_ entry: LedgerEntry) {
    if case .handled(let id, let handled) = entry {
      stagedHandled[id, default: StagedHandled()].stage(handled)
      return
    }
    if case .erasure = entry { isErasing = true }
    changed?.insert(entry.name)
    staged[entry.name] = Staged(entry: entry, outstanding: (staged[entry.name]?.outstanding ?? 0) + 1)
  }

  /// Moves a staged decision to the layer that is in Kafka. Decisions are settled in the order in which they were
  /// staged.
  mutating func settle(_ entry: LedgerEntry) {
    apply(entry)
    if case .handled(let id, _) = entry {
      guard let waiting = stagedHandled[id] else { return }
      if waiting.outstanding > 1 { stagedHandled[id]?.outstanding -= 1 } else { stagedHandled[id] = nil }
      return
    }
    guard let waiting = staged[entry.name] else { return }
    if waiting.outstanding > 1 {
      staged[entry.name]?.outstanding -= 1
    } else {
      staged[entry.name] = nil
    }
  }

  /// Drops all staged entries, because the epoch is over. Some of them may be in Kafka; only the ledger topic can tell.
  mutating func dropStaged() {
    staged.removeAll()
    stagedHandled.removeAll()
    performing.removeAll()
    isErasing = false
    changed = nil
    timers.release()
  }

  /// Returns the entries that remove notifications older than the horizon. The caller stages and writes them.
  /// Notifications on pages are removed from memory at once, and their pages are removed.
  ///
  /// - Parameters:
  ///   - horizon: Done and dead notifications older than this are removed.
  ///   - delayedHorizon: Delayed notifications older than this are removed. It is later than any record on a retry
  ///     topic, so that a worker that was switched off finds its delayed records again.
  ///   - parts: The part of the table to examine, in units of 1/256.
  mutating func expired(before horizon: Timestamp, delayedBefore delayedHorizon: Timestamp, parts: Int) -> [LedgerEntry]
  {
    let minute = Handled.minute(of: horizon)
    let delayedMinute = Handled.minute(of: delayedHorizon)
    let old = handled.nextCandidates(parts: parts) { handled in
      if case .delayed = handled.state { return handled.minute < delayedMinute }
      return handled.minute < minute
    }
    var entries: [LedgerEntry] = []
    // An entry that is about to change is not expired.
    for id in old where stagedHandled[id] == nil {
      if handled[id]?.isOnPage == true { handled[id] = nil } else { entries.append(.handled(id, nil)) }
    }
    for page in pages.prefix(Self.pagesPerSweep) {
      guard page.minute < minute, staged[.page(page)] == nil else { break }
      entries.append(.page(page, nil))
    }
    return entries
  }

  // More pages than are written between two sweeps, so that every page is removed in time.
  private static let pagesPerSweep = 10_000

  private mutating func apply(_ entry: LedgerEntry) {
    switch entry {
    case .handled(let id, let value): handled[id] = value
    case .effect(let name, let effect):
      // A completed effect stays completed, even if another owner writes an intent late.
      if case .ended? = effects[name]?.progress, case .intended? = effect?.progress { return }
      effects[name] = effect
    case .timer(let name, let timer): timers[name] = timer
    case .counter(let name, let count): counters[name] = count
    case .tail(let key, let last): tails[key] = last
    case .state(let name, let state): states[name] = state?.bytes
    case .erasure(let mark, let erasure): erasures[mark] = erasure
    case .page(let id, let page?):
      pages.append(id)
      for line in page.lines { handled[line.id] = line.handled }
    case .page(let id, nil):
      // Pages are removed in the order in which they were added. A page that is not the first was compacted away
      // before.
      if pages.first == id { _ = pages.popFirst() }
    case .owner: break
    }
  }

  // MARK: - Effects

  /// The next step of a handler that wants to perform an effect.
  enum EffectStep: Sendable, Hashable {
    /// Stage and write this entry, wait for Kafka's acknowledgement, then perform the effect.
    case write(LedgerEntry)
    /// An earlier attempt may have performed the effect. Perform it again with the recorded body.
    case perform(body: [UInt8], intendedAt: Timestamp)
    /// The effect completed with this result. Do not perform it.
    case ended(result: [UInt8])
    /// Another handler performs the effect. Delay the record.
    case busy
  }

  /// Starts an effect. Unless the result is `ended` or `busy`, the effect belongs to this handler until
  /// ``endEffect(_:result:)``, ``withdrawEffect(_:)`` or ``leaveEffect(_:)``.
  /// - Parameter key: The record key of the notification.
  mutating func beginEffect(_ name: String, body: [UInt8], key: [UInt8] = [], now: Timestamp) -> EffectStep {
    guard !performing.contains(name) else { return .busy }
    #if PLANTED_FAULTS
      if PlantedFault.newEffectBody.isActive, case .intended? = effect(name)?.progress {
        performing.insert(name)
        return .perform(body: body, intendedAt: now)
      }
    #endif
    switch effect(name) {
    case nil:
      performing.insert(name)
      return .write(.effect(name, Effect(key: key, intendedAt: now, progress: .intended(body: body))))
    case .some(let effect):
      switch effect.progress {
      case .ended(let result): return .ended(result: result)
      case .intended(let body):
        performing.insert(name)
        return .perform(body: body, intendedAt: effect.intendedAt)
      }
    }
  }

  /// Returns the entry that stores a result, or nil if the effect is not being performed. The caller stages it at once
  /// and writes it with the handler's outcome.
  mutating func endEffect(_ name: String, result: [UInt8]) -> LedgerEntry? {
    guard performing.remove(name) != nil, let effect = effect(name) else { return nil }
    // The customer was erased meanwhile.
    if case .ended = effect.progress { return nil }
    return .effect(name, Effect(key: effect.key, intendedAt: effect.intendedAt, progress: .ended(result: result)))
  }

  /// Returns the entry that removes an intent, or nil if the effect is not being performed. The caller stages it at
  /// once and writes it.
  mutating func withdrawEffect(_ name: String) -> LedgerEntry? {
    guard performing.remove(name) != nil, case .intended? = effect(name)?.progress else { return nil }
    return .effect(name, nil)
  }

  /// The handler ended without a result, so the result of the effect is unknown.
  mutating func leaveEffect(_ name: String) { performing.remove(name) }

  // MARK: - Erasure

  /// Whether a customer was erased in this lane.
  var hasErasures: Bool { isErasing || !erasures.isEmpty }

  /// Returns the mark of an erased customer, or nil if there is none.
  func erasure(_ mark: LedgerKey) -> Erasure? {
    if case .erasure(_, let erasure)? = staged[.erasure(mark)]?.entry { return erasure }
    return erasures[mark]
  }

  /// The secrets with which the marks were computed.
  var erasureFingerprints: Set<UInt32> { Set(erasures.values.map(\.fingerprint)) }

  /// Begins a search for everything that belongs to record keys. Pass its result to ``entries(erasing:found:)``.
  mutating func searchErased(_ keys: [[UInt8]]) -> ErasureSearch {
    changed = Set(staged.keys)
    return ErasureSearch(of: keys, timers: timers, states: states, effects: effects)
  }

  /// Ends the search, and returns the names that the search may have missed.
  mutating func endErasureSearch() -> Set<LedgerEntry.Name> {
    defer { changed = nil }
    return changed ?? []
  }
}
