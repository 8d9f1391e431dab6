// What a lane knows of what was handled and caused.

internal import AppStore

/// The ledger of one lane in memory.
///
/// It has two layers. What is in Kafka, and over it what was decided and waits for its commit: a lane decides about a
/// key's next record before the outcome of the last one is committed, and must see it. An outcome is never taken back
/// while its epoch lasts (an aborted transaction is produced again), so seeing it early is safe; when the epoch ends
/// ``dropStaged()`` leaves exactly what Kafka says.
struct Ledger: Sendable {
  private struct Staged: Sendable {
    var entry: LedgerEntry
    /// Commits that are still to come for this name; only the last one removes the layer.
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
  private var effects: [String: Effect] = [:]
  private var committedTimers: [String: LaneTimer] = [:]
  private var counters: [String: Int64] = [:]
  private var tails: [LedgerKey: LedgerKey] = [:]
  private var states: [String: [UInt8]] = [:]
  /// Pages that its topic has, the oldest first.
  private var pages = FIFO<LedgerPage.ID>()
  private var staged: [LedgerEntry.Name: Staged] = [:]
  // Of every record, so by the key alone.
  private var stagedHandled: [LedgerKey: StagedHandled] = [:]
  private var performing: Set<String> = []

  /// An empty ledger.
  init() {}

  // MARK: - What it keeps

  /// Notifications in Kafka's layer.
  var count: Int { handled.count }
  /// Bytes of the table of notifications.
  var tableBytes: Int { handled.bytes }
  /// Effects in Kafka's layer.
  var effectCount: Int { effects.count }
  /// Whether what was last decided about a name waits for its commit.
  func isStaged(_ name: LedgerEntry.Name) -> Bool {
    if case .handled(let id) = name { stagedHandled[id] != nil } else { staged[name] != nil }
  }
  /// Names that wait for their commit.
  var stagedCount: Int { staged.count + stagedHandled.count }

  /// Whether Kafka's layer knows of a notification.
  func isInKafka(_ id: LedgerKey) -> Bool { handled[id] != nil }
  /// Pages in Kafka's layer.
  var pageCount: Int { pages.count }

  /// What became of a notification.
  subscript(id: LedgerKey) -> Handled? {
    if let staged = stagedHandled[id] { return staged.handled }
    return handled[id]
  }

  /// A timer that is set.
  func timer(_ name: String) -> LaneTimer? {
    if case .timer(_, let timer)? = staged[.timer(name)]?.entry { return timer }
    return committedTimers[name]
  }

  /// The timers Kafka knows: what a lane that starts has to wait for.
  var timers: [String: LaneTimer] { committedTimers }

  /// A counter of this lane.
  func counter(_ name: String) -> Int64 {
    if case .counter(_, let count)? = staged[.counter(name)]?.entry { return count ?? 0 }
    return counters[name] ?? 0
  }

  /// The entry that adds to a counter; stage it before another is asked for.
  func adding(_ count: Int64, to name: String) -> LedgerEntry {
    .counter(name, counter(name).addingReportingOverflow(count).partialValue)
  }

  /// With strict order: the last notification that waits of a record key.
  func tail(of key: LedgerKey) -> LedgerKey? {
    if case .tail(_, let last)? = staged[.tail(key)]?.entry { return last }
    return tails[key]
  }

  /// What a handler kept under this name.
  func state(_ name: String) -> [UInt8]? {
    if case .state(_, let value)? = staged[.state(name)]?.entry { return value }
    return states[name]
  }

  /// How far an effect got.
  func effect(_ name: String) -> Effect? {
    if case .effect(_, let effect)? = staged[.effect(name)]?.entry { return effect }
    return effects[name]
  }

  // MARK: - How it changes

  /// Takes over what the ledger's topic says, in its order.
  mutating func restore(_ entry: LedgerEntry) { apply(entry) }

  /// A decision: seen from now on, forgotten by ``dropStaged()`` until it is settled.
  mutating func stage(_ entry: LedgerEntry) {
    if case .handled(let id, let handled) = entry {
      stagedHandled[id, default: StagedHandled()].stage(handled)
      return
    }
    staged[entry.name] = Staged(entry: entry, outstanding: (staged[entry.name]?.outstanding ?? 0) + 1)
  }

  /// A staged decision is in Kafka. Settled in the order in which they were staged.
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

  /// The epoch is over: what was not settled may or may not be in Kafka, and only its topic can tell.
  mutating func dropStaged() {
    staged.removeAll()
    stagedHandled.removeAll()
    performing.removeAll()
  }

  /// Notifications that are older than the horizon, as the entries that remove them; to be staged and written. Those
  /// on pages are forgotten at once, and their pages removed.
  ///
  /// - Parameters:
  ///   - horizon: What is done or dead and older than this goes.
  ///   - parkedHorizon: What is parked and older than this goes. Later than any record on a tier: a worker that was
  ///     switched off must find its parked records as it left them.
  ///   - parts: How much of the table is looked at, in parts of 256.
  mutating func expired(before horizon: Timestamp, parkedBefore parkedHorizon: Timestamp, parts: Int) -> [LedgerEntry] {
    let minute = Handled.minute(of: horizon)
    let parkedMinute = Handled.minute(of: parkedHorizon)
    let old = handled.nextCandidates(parts: parts) { handled in
      if case .parked = handled.state { return handled.minute < parkedMinute }
      return handled.minute < minute
    }
    var entries: [LedgerEntry] = []
    // What is about to change is not old any more.
    for id in old where stagedHandled[id] == nil {
      if handled[id]?.isOnPage == true { handled[id] = nil } else { entries.append(.handled(id, nil)) }
    }
    for page in pages.first(Self.pagesPerSweep) {
      guard page.minute < minute, staged[.page(page)] == nil else { break }
      entries.append(.page(page, nil))
    }
    return entries
  }

  // More than are written between two sweeps, so that none stays for ever.
  private static let pagesPerSweep = 10_000

  private mutating func apply(_ entry: LedgerEntry) {
    switch entry {
    case .handled(let id, let value): handled[id] = value
    case .effect(let name, let effect):
      // What is done stays done, whoever comes late with an intent.
      if case .ended? = effects[name]?.progress, case .intended? = effect?.progress { return }
      effects[name] = effect
    case .timer(let name, let timer): committedTimers[name] = timer
    case .counter(let name, let count): counters[name] = count
    case .tail(let key, let last): tails[key] = last
    case .state(let name, let value): states[name] = value
    case .page(let id, let page?):
      pages.append(id)
      for line in page.lines { handled[line.id] = line.handled }
    case .page(let id, nil):
      // They go in the order in which they came. One that is not the first was compacted away before.
      if pages.first == id { _ = pages.popFirst() }
    }
  }

  // MARK: - Effects

  /// What a handler that wants to cause an effect has to do.
  enum EffectStep: Sendable, Hashable {
    /// Stage this, write it, wait until Kafka has acknowledged it, then perform.
    case write(LedgerEntry)
    /// An earlier run may have performed it: perform with the body that is written.
    case perform(body: [UInt8], intendedAt: Timestamp)
    /// It was done, with this result: do not perform.
    case ended(result: [UInt8])
    /// Another handler is at it: park.
    case busy
  }

  /// Begins an effect. Unless the answer is `ended` or `busy` the effect is this handler's until
  /// ``endEffect(_:result:)``, ``withdrawEffect(_:)`` or ``leaveEffect(_:)``.
  mutating func beginEffect(_ name: String, body: [UInt8], now: Timestamp) -> EffectStep {
    guard !performing.contains(name) else { return .busy }
    switch effect(name) {
    case nil:
      performing.insert(name)
      return .write(.effect(name, Effect(intendedAt: now, progress: .intended(body: body))))
    case .some(let effect):
      switch effect.progress {
      case .ended(let result): return .ended(result: result)
      case .intended(let body):
        performing.insert(name)
        return .perform(body: body, intendedAt: effect.intendedAt)
      }
    }
  }

  /// The entry that keeps a result; to be staged at once and written with the handler's outcome. nil where the effect
  /// is not being performed.
  mutating func endEffect(_ name: String, result: [UInt8]) -> LedgerEntry? {
    guard performing.remove(name) != nil, let effect = effect(name) else { return nil }
    return .effect(name, Effect(intendedAt: effect.intendedAt, progress: .ended(result: result)))
  }

  /// The entry that takes an intent back, to be staged at once and written; nil where the effect is not being performed.
  mutating func withdrawEffect(_ name: String) -> LedgerEntry? {
    performing.remove(name) == nil ? nil : .effect(name, nil)
  }

  /// The handler ended without a result: what became of the effect is unclear.
  mutating func leaveEffect(_ name: String) { performing.remove(name) }
}
