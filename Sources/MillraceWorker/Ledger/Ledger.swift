// A lane's ledger: which notifications were handled and which effects were performed.

internal import AppStore
internal import DequeModule
internal import KafkaClient
internal import MillraceCore

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
    var outstanding = 0

    mutating func stage(_ entry: LedgerEntry) {
      self.entry = entry
      outstanding += 1
    }
  }

  /// The notifications that are in Kafka. There are millions of them, and pages have them without entries.
  private var handled = HandledTable()
  /// The timers that are in Kafka.
  private(set) var timers = TimerTable()
  /// The entries of other kinds that are in Kafka: their fields by name.
  private var tables: [LedgerKind: CompactTable] = [:]
  /// The pages in the ledger topic, oldest first.
  private var pages = Deque<LedgerPage.ID>()
  private var staged: [LedgerEntry.Name: Staged] = [:]
  /// Whether an erasure has been staged.
  private var isErasing = false
  /// The names that were staged when a search for erased customers began, or since then; nil while there is no search.
  private var changed: Set<LedgerEntry.Name>?
  private var performing: Set<String> = []

  init() {}

  // MARK: - What it keeps

  /// The number of notifications that are in Kafka.
  var count: Int { handled.count }
  /// Whether the last entry for a name waits for its commit.
  func isStaged(_ name: LedgerEntry.Name) -> Bool { staged[name] != nil }

  /// Whether a notification's entry is in Kafka.
  func isInKafka(_ id: LedgerKey) -> Bool { handled[id] != nil }

  /// The state of a notification; nil if the ledger does not know it.
  subscript(id: LedgerKey) -> Handled? {
    if let staged = staged[.handled(id)] { return staged.entry.content() }
    return handled[id]
  }

  /// Returns the fields of an entry that is not one of a notification.
  func fields(_ name: LedgerEntry.Name) -> ArraySlice<UInt8>? {
    #if PLANTED_FAULTS
      if PlantedFault.committedStatesOnly.isActive, name.kind == .state { return fieldsInKafka(name) }
    #endif
    if let staged = staged[name] { return staged.entry.fields }
    return fieldsInKafka(name)
  }

  private func fieldsInKafka(_ name: LedgerEntry.Name) -> ArraySlice<UInt8>? {
    let table = name.kind == .timer ? timers.table : tables[name.kind]
    return table?.find(name.bytes)?[...]
  }

  private func value<Value: LedgerValue>(_ name: LedgerEntry.Name) -> Value? {
    fields(name).flatMap { Value.stored($0, name) }
  }

  /// Returns a timer that is set.
  func timer(_ name: String) -> LaneTimer? { value(.timer(name)) }

  /// Returns timers that are in Kafka and due, each one once.
  mutating func takeDueTimers(at now: Timestamp, upTo count: Int) -> [String] { timers.takeDue(at: now, upTo: count) }

  /// Lets a timer that was taken fire again from a time on.
  mutating func postponeTimer(_ name: String, until time: Timestamp) { timers.postpone(name, until: time) }

  /// Returns the value of a counter of this lane.
  func counter(_ name: String) -> Int64 { value(.counter(name)) ?? 0 }

  /// Returns the entry that adds to a counter. Stage it before you ask for another.
  func adding(_ count: Int64, to name: String) -> LedgerEntry {
    .counter(name, counter(name).addingReportingOverflow(count).partialValue)
  }

  /// Returns the last waiting notification of a record key, for strict ordering.
  func tail(of key: LedgerKey) -> LedgerKey? { value(.tail(key)) }

  /// Returns the state that a handler stored under a name.
  func state(_ name: String) -> [UInt8]? { (value(.state(name)) as StoredState?)?.value }

  /// Returns an effect; nil if it was never started.
  func effect(_ name: String) -> Effect? { value(.effect(name)) }

  // MARK: - How it changes

  /// Applies an entry of the ledger topic, in the topic's order.
  mutating func restore(_ entry: LedgerEntry) { apply(entry) }

  /// Applies a record of the ledger topic, in the topic's order.
  /// - Throws: ``MillraceError`` with the record's position.
  mutating func restore(_ record: ConsumerRecord) throws(MillraceError) {
    let entry = try LedgerEntry(record)
    #if PLANTED_FAULTS
      switch entry.name.kind {
      case .timer where PlantedFault.timersLostAtMove.isActive: return
      case .state where PlantedFault.statesLostAtMove.isActive: return
      case .handled where PlantedFault.doneLostAtMove.isActive: return
      case .page where PlantedFault.doneLostAtMove.isActive: return
      case .effect where PlantedFault.effectsLostAtMove.isActive: return
      case .tail where PlantedFault.tailsLostAtMove.isActive: return
      default: break
      }
    #endif
    restore(entry)
  }

  /// Adds a decision to the staged layer. ``dropStaged()`` removes it unless its commit unstages it.
  mutating func stage(_ entry: LedgerEntry) {
    if entry.name.kind == .erasure { isErasing = true }
    changed?.insert(entry.name)
    staged[entry.name, default: Staged(entry: entry)].stage(entry)
  }

  /// Removes the entries of a commit from the staged layer. The caller then restores them as they are stored in Kafka: what
  /// shares a page is on it, and passed counts are left out.
  mutating func unstage(_ entries: [LedgerEntry]) {
    for entry in entries {
      guard let place = staged.index(forKey: entry.name) else { continue }
      if staged.values[place].outstanding > 1 {
        staged.values[place].outstanding -= 1
      } else {
        staged.remove(at: place)
      }
    }
  }

  /// Drops all staged entries, because the epoch is over. Some of them may be in Kafka; only the ledger topic can tell.
  mutating func dropStaged() {
    staged.removeAll()
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
    for id in old where !isStaged(.handled(id)) {
      if handled[id]?.isOnPage == true { handled[id] = nil } else { entries.append(.handled(id, nil)) }
    }
    for page in pages.prefix(Self.pagesPerSweep) {
      guard page.minute < minute, !isStaged(.page(page)) else { break }
      entries.append(.page(page, nil))
    }
    return entries
  }

  // More pages than are written between two sweeps, so that every page is removed in time.
  private static let pagesPerSweep = 10_000

  private mutating func apply(_ entry: LedgerEntry) {
    let name = entry.name
    switch name.kind {
    case .handled: handled[name.digest] = entry.content()
    case .timer: timers.set(entry)
    case .page:
      let id = LedgerPage.ID(name)
      if let page: LedgerPage = entry.content() {
        pages.append(id)
        for line in page.lines { handled[line.id] = line.handled }
      } else if pages.first == id {
        // Pages are removed in the order in which they were added. A page that is not the first was compacted away
        // before.
        _ = pages.popFirst()
      }
    case .owner: break
    // A completed effect stays completed, even if another owner writes an intent late.
    case .effect where isLateIntent(entry): break
    case .effect, .counter, .tail, .state, .erasure:
      tables[name.kind, default: CompactTable()].set(name.bytes, entry.fields)
    }
  }

  private func isLateIntent(_ entry: LedgerEntry) -> Bool {
    guard let new: Effect = entry.content(), case .intended = new.progress,
      let old = fieldsInKafka(entry.name).flatMap({ Effect.stored($0, entry.name) }), case .ended = old.progress
    else { return false }
    return true
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
  var hasErasures: Bool { isErasing || (tables[.erasure]?.count ?? 0) > 0 }

  /// Returns the mark of an erased customer, or nil if there is none.
  func erasure(_ mark: LedgerKey) -> Erasure? { value(.erasure(mark)) }

  /// The secrets with which the marks were computed.
  var erasureFingerprints: Set<UInt32> {
    var fingerprints: Set<UInt32> = []
    tables[.erasure]?.forEach { mark, fields in
      if let erasure = ByteReader.checked(fields, { try Erasure(&$0) }) { fingerprints.insert(erasure.fingerprint) }
    }
    return fingerprints
  }

  /// Begins a search for everything that belongs to record keys. Pass its result to ``entries(erasing:found:)``.
  mutating func searchErased(_ keys: [[UInt8]]) -> ErasureSearch {
    changed = Set(staged.keys)
    return ErasureSearch(of: keys, in: tables.merging([.timer: timers.table]) { $1 })
  }

  /// Ends the search, and returns the names that the search may have missed.
  mutating func endErasureSearch() -> Set<LedgerEntry.Name> {
    defer { changed = nil }
    return changed ?? []
  }
}
