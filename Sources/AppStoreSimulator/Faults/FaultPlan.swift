// Which faults strike a request. Latencies add up; of the others the first in order strikes.

internal import AppStore
internal import AppStoreSigning

/// The faults of a simulator, each with what is left of its count. What can strike no more is kept for reports only, the
/// newest of it.
struct FaultPlan: Sendable {
  /// Spent faults that are kept.
  static let mostSpent = 100

  /// A fault with its number, by which it is taken away again.
  struct Entry: Sendable, Hashable {
    let id: Int
    let fault: Fault
    var struck = 0
  }

  /// What happens to one request.
  struct Verdict: Sendable, Hashable {
    var delay = Duration.zero
    /// A latency excluded; nil: the request is answered as it deserves.
    var effect: FaultEffect?
  }

  /// Those that strike, or will.
  private var active: [Entry] = []
  private var spent: [Entry] = []
  private var nextID = 1
  private var generator: SeededGenerator

  init(_ faults: [Fault] = [], seed: UInt64 = 0) {
    generator = SeededGenerator(seed: seed)
    for fault in faults { add(fault) }
  }

  /// Adds a fault behind those that are there.
  @discardableResult
  mutating func add(_ fault: Fault) -> Int {
    defer { nextID += 1 }
    active.append(Entry(id: nextID, fault: fault))
    return nextID
  }

  /// All that are kept, in the order they were added.
  var entries: [Entry] { (spent + active).sorted { $0.id < $1.id } }

  /// Takes a fault away; false when there is none of that number.
  mutating func remove(_ id: Int) -> Bool {
    let before = active.count + spent.count
    active.removeAll { $0.id == id }
    spent.removeAll { $0.id == id }
    return active.count + spent.count < before
  }

  /// Puts those aside that can strike no more.
  private mutating func retire(at now: Timestamp) {
    guard active.contains(where: { $0.isSpent(at: now) }) else { return }
    spent += active.filter { $0.isSpent(at: now) }
    spent.removeFirst(max(0, spent.count - Self.mostSpent))
    active.removeAll { $0.isSpent(at: now) }
  }

  /// Decides about a request, and counts it against the faults that strike.
  mutating func decide(
    _ endpoint: APIEndpoint, bundleId: String?, environment: AppStoreEnvironment, now: Timestamp
  ) -> Verdict {
    retire(at: now)
    var verdict = Verdict()
    for index in active.indices {
      let fault = active[index].fault
      guard fault.concerns(endpoint, bundleId: bundleId, environment: environment, now: now) else { continue }
      if case .latency = fault.effect {} else if verdict.effect != nil { continue }
      // Drawn only where it matters, so that a fault elsewhere does not change this one's luck.
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
    _ endpoint: APIEndpoint, bundleId: String?, environment: AppStoreEnvironment, now: Timestamp
  ) -> Bool {
    if let endpoints, !endpoints.contains(endpoint) { return false }
    if let mine = self.bundleId, mine != bundleId { return false }
    if let mine = self.environment, mine != environment { return false }
    if let from, now < from { return false }
    if let until, now >= until { return false }
    return true
  }
}
