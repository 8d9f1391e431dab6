// Mass extensions as Apple runs them: accepted immediately, performed over time, with a notification per subscription.

internal import AppStore
internal import AppStoreSigning
internal import Crypto
internal import Synchronization

/// The state of one mass extension.
struct MassExtension: Sendable {
  let request: MassExtensionRequest
  let realm: RealmID
  /// The subscriptions that were eligible when the request was accepted; empty once the extension is complete.
  private(set) var targets: [Int64]
  /// Decides which extensions fail.
  var generator: SeededGenerator
  private(set) var next = 0
  private(set) var succeeded: Int64 = 0
  private(set) var failed: Int64 = 0
  private(set) var completed: Timestamp?

  init(_ request: MassExtensionRequest, realm: RealmID, targets: [Int64], seed: UInt64) {
    self.request = request
    self.realm = realm
    self.targets = targets
    // Seeded by the identifier, so that concurrent jobs do not affect each other's results.
    let digest = SHA256.hash(data: Array(request.terms.requestIdentifier.utf8))
    generator = SeededGenerator(seed: digest.prefix(8).reduce(seed) { $0 << 8 ^ UInt64($1) })
  }

  /// Returns the targets up to this step that were not returned before.
  mutating func take(upTo step: Int, of steps: Int) -> ArraySlice<Int64> {
    let end = step >= steps ? targets.count : targets.count * step / steps
    defer { next = max(next, end) }
    return targets[next..<max(next, end)]
  }

  /// Counts one target.
  ///
  /// - Parameter extended: the number of extended subscriptions, including family members'; 0 if the extension failed.
  mutating func count(extended: Int64) {
    if extended > 0 { succeeded += extended } else { failed += 1 }
  }

  mutating func complete(at moment: Timestamp) {
    completed = moment
    targets = []
    next = 0
  }
}

/// Accepts mass extensions and performs them in the world's time.
final class ExtensionService: Sendable {
  /// The largest number of steps in a job: many enough for steady progress, few enough for a fast clock.
  private static let steps = 240

  private struct Key: Hashable {
    var realm: RealmID
    var productId: String
    var requestIdentifier: String
  }

  private struct Jobs {
    var running: [Int: MassExtension] = [:]
    var nextNumber = 0
    /// The newest job for each identifier, and its result once it is complete.
    var newest = BoundedMemory<Key, (number: Int, outcome: MassExtension?)>(capacity: 10_000)
  }

  private let world: World
  private let settings: MassExtensionSettings
  private let seed: UInt64
  private let jobs = Mutex(Jobs())

  init(_ world: World, _ settings: MassExtensionSettings, seed: UInt64) {
    self.world = world
    self.settings = settings
    self.seed = seed
  }

  /// Starts a job for all subscriptions that are eligible now.
  func open(_ request: MassExtensionRequest, realm: RealmID, at now: Timestamp) {
    let targets = world.withState { state in
      state.realms[realm].subscriptions.filter { id in
        guard let subscription = state.subscriptions[id],
          let transaction = state.transactions[subscription.transactionId],
          state.product(of: transaction).productId == request.productId,
          request.storefronts?.contains(state.customers[subscription.customer].storefront) ?? true
        else { return false }
        return ExtensionFacts(subscription, in: state).refusal(now: now) == nil
      }
    }
    let job = MassExtension(request, realm: realm, targets: targets, seed: seed)
    let number = jobs.withLock { jobs in
      let number = jobs.nextNumber
      jobs.nextNumber += 1
      jobs.running[number] = job
      jobs.newest[Self.key(of: job)] = (number, nil)
      return number
    }
    let steps = max(1, min(targets.count, Self.steps))
    let start = now + settings.startDelay
    for step in 1...steps {
      world.schedule(at: start + settings.duration * (Double(step) / Double(steps))) { [weak self] world, moment in
        self?.carryOut(number, step: step, of: steps, in: world, at: moment)
      }
    }
  }

  /// The newest job for this identifier.
  func status(realm: RealmID, productId: String, requestIdentifier: String) -> MassExtension? {
    jobs.withLock { jobs in
      jobs.newest[Self.key(realm, productId, requestIdentifier)].flatMap { $0.outcome ?? jobs.running[$0.number] }
    }
  }

  /// The number of targets of all running jobs.
  var targetCount: Int { jobs.withLock { $0.running.values.reduce(0) { $0 + $1.targets.count } } }

  private static func key(of job: MassExtension) -> Key {
    key(job.realm, job.request.productId, job.request.terms.requestIdentifier)
  }

  /// UUIDs are compared without regard to case.
  private static func key(_ realm: RealmID, _ productId: String, _ identifier: String) -> Key {
    Key(realm: realm, productId: productId, requestIdentifier: identifier.lowercased())
  }

  private func carryOut(_ number: Int, step: Int, of steps: Int, in world: World, at now: Timestamp) {
    // Steps run one after another, so no other step changes the job between this read and the write below.
    guard var job = jobs.withLock({ $0.running[number] }) else { return }
    world.withState { state in
      for id in job.take(upTo: step, of: steps) {
        job.count(
          extended: extend(id, of: job, isUnlucky: job.draw(below: settings.failureShare), in: &state, at: now))
      }
      guard step == steps else { return }
      job.complete(at: now)
      state.summarizeExtension(
        in: job.realm, productId: job.request.productId, requestIdentifier: job.request.terms.requestIdentifier,
        storefronts: job.request.storefronts, succeeded: job.succeeded, failed: job.failed, at: now)
    }
    jobs.withLock { [job] jobs in
      jobs.running[number] = step == steps ? nil : job
      let key = Self.key(of: job)
      if step == steps, jobs.newest[key]?.number == number { jobs.newest[key] = (number, job) }
    }
  }

  /// Extends a subscription, or fails the extension if the subscription is no longer eligible.
  ///
  /// - Returns: the number of extended subscriptions, including family members'.
  private func extend(
    _ id: Int64, of job: MassExtension, isUnlucky: Bool, in state: inout WorldState, at now: Timestamp
  ) -> Int64 {
    let isEligible = state.subscriptions[id].map { ExtensionFacts($0, in: state).refusal(now: now) == nil } ?? false
    do throws(WorldError) {
      if isEligible, !isUnlucky {
        try state.extendRenewal(id, byDays: job.request.terms.days, at: now)
        return 1 + Int64(state.families[id]?.count ?? 0)
      }
      try state.failExtension(id, at: now)
    } catch {
      // The subscription no longer exists, so there is no notification about it either.
    }
    return 0
  }
}

extension MassExtension {
  /// Draws once for each target, regardless of its result.
  fileprivate mutating func draw(below share: Double) -> Bool {
    Double.random(in: 0..<1, using: &generator) < share
  }
}

extension ExtensionFacts {
  /// The facts about a subscription's eligibility.
  init(_ subscription: SubscriptionFacts, in state: WorldState) {
    self.init(
      status: subscription.status, ownership: subscription.ownership,
      isInFreeOffer: state.currentOffer(of: subscription)?.isFree ?? false,
      hasPaidPeriod: subscription.hasPaidPeriod, expires: subscription.expires, extensions: subscription.extensions)
  }
}
