// Selects the faults that apply to a request. All matching latencies are added; of the other faults, the first one
// applies.

internal import AppStore
internal import AppStoreSigning

/// The faults of a simulator and the number of requests each has affected. Of faults that are over, only the newest are
/// kept, for reports.
struct FaultPlan: Sendable {
  /// The number of finished faults to keep.
  static let mostSpent = 100

  /// A fault and the identifier with which it is removed.
  struct Entry: Sendable, Hashable {
    let id: Int
    let fault: Fault
    var struck = 0
  }

  /// The effects on one request.
  struct Impact: Sendable, Hashable {
    var delay = Duration.zero
    /// The effect other than latency; nil to process the request normally.
    var effect: FaultEffect?
  }

  /// Faults that are active or will be.
  private var active: [Entry] = []
  private var spent: [Entry] = []
  private var nextID = 1
  private var generator: SeededGenerator

  init(_ faults: [Fault] = [], seed: UInt64 = 0) {
    generator = SeededGenerator(seed: seed)
    for fault in faults { add(fault) }
  }

  /// Adds a fault after the existing ones.
  @discardableResult
  mutating func add(_ fault: Fault) -> Int {
    defer { nextID += 1 }
    active.append(Entry(id: nextID, fault: fault))
    return nextID
  }

  /// All faults that are kept, in the order they were added.
  var entries: [Entry] { (spent + active).sorted { $0.id < $1.id } }

  /// Removes a fault. Returns false if there is no fault with this identifier.
  mutating func remove(_ id: Int) -> Bool {
    let before = active.count + spent.count
    active.removeAll { $0.id == id }
    spent.removeAll { $0.id == id }
    return active.count + spent.count < before
  }

  /// Moves finished faults to `spent`.
  private mutating func retire(at now: Timestamp) {
    guard active.contains(where: { $0.isSpent(at: now) }) else { return }
    spent += active.filter { $0.isSpent(at: now) }
    spent.removeFirst(max(0, spent.count - Self.mostSpent))
    active.removeAll { $0.isSpent(at: now) }
  }

  /// Selects the faults for a request and counts it against them.
  mutating func decide(
    _ endpoint: SimulatedEndpoint, bundleId: String?, environment: AppStoreEnvironment, now: Timestamp
  ) -> Impact {
    retire(at: now)
    var verdict = Impact()
    for index in active.indices {
      let fault = active[index].fault
      guard fault.concerns(endpoint, bundleId: bundleId, environment: environment, now: now) else { continue }
      if case .latency = fault.effect {} else if verdict.effect != nil { continue }
      // Only matching faults draw a random number, so that a fault for another endpoint does not change the result.
      if fault.share < 1, Double.random(in: 0..<1, using: &generator) >= fault.share { continue }
      active[index].struck += 1
      if case .latency(let delay) = fault.effect { verdict.delay += delay } else { verdict.effect = fault.effect }
    }
    return verdict
  }
}

extension FaultPlan.Entry {
  fileprivate func isSpent(at now: Timestamp) -> Bool {
    struck >= fault.count ?? .max || fault.until.map { $0 <= now } ?? false
  }
}

extension Fault {
  fileprivate func concerns(
    _ endpoint: SimulatedEndpoint, bundleId: String?, environment: AppStoreEnvironment, now: Timestamp
  ) -> Bool {
    if let endpoints, !endpoints.contains(endpoint) { return false }
    if let mine = self.bundleId, mine != bundleId { return false }
    if let mine = self.environment, mine != environment { return false }
    if let from, now < from { return false }
    if let until, now >= until { return false }
    return true
  }
}
