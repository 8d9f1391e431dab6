// Takes what the world has to say to the URLs that teams registered, as Apple would: signed when it is sent, tried again
// on Apple's schedule, the same bytes each time.

internal import AppStore
internal import AppStoreSigning
public import Clocks
internal import AsyncHTTPClient
public import Logging
public import ServiceLifecycle
internal import Synchronization

/// Delivers notifications. One world has one courier.
public final class Courier: Service {
  private struct State: Sendable {
    var queue = DeliveryQueue()
    var underWay = 0
    /// What is being told of for the first time, and what has to wait for it: one subject's news arrive in their order.
    var told: Set<Int64> = []
    var held: [Int64: [Delivery]] = [:]
    var tally = DeliveryTally()
  }

  private let world: World
  private let signatory: Signatory
  private let destinations: [RealmID: Destination]
  private let settings: DeliverySettings
  private let clock: MillraceClock
  private let post: Post?
  private let onAttempt: @Sendable (DeliveryAttempt) -> Void
  private let logger: Logger
  private let state = Mutex(State())

  /// A courier of everything that happens from now on.
  ///
  /// - Parameters:
  ///   - destinations: for each app and environment its URL; what has none is not sent.
  ///   - post: how to post; nil: over HTTP.
  ///   - onAttempt: told of every attempt when it is over; must not block.
  public init(
    world: World, signatory: Signatory, destinations: [RealmID: Destination], settings: DeliverySettings,
    clock: MillraceClock, post: Post? = nil, onAttempt: @escaping @Sendable (DeliveryAttempt) -> Void = { _ in },
    logger: Logger
  ) {
    self.world = world
    self.signatory = signatory
    self.destinations = destinations
    self.settings = settings
    self.clock = clock
    self.post = post
    self.onAttempt = onAttempt
    self.logger = logger
    world.withState { $0.hasPostman = true }
  }

  /// What came of it so far.
  public var tally: DeliveryTally {
    state.withLock { state in
      var tally = state.tally
      tally.waiting =
        state.queue.count + state.underWay + state.held.values.reduce(0) { $0 + $1.count }
      return tally
    }
  }

  /// Delivers until shut down; what is under way then is finished, what waits is not sent.
  public func run() async throws {
    guard let post else {
      let client = HTTPPost.client(connections: settings.concurrency)
      let http = HTTPPost(client: client, timeout: settings.timeout)
      let result: Result<Void, any Error>
      do { result = .success(try await run { await http($0, $1) }) } catch { result = .failure(error) }
      try await client.shutdown()
      return try result.get()
    }
    try await run(post)
  }

  private func run(_ post: @escaping Post) async throws {
    let news = world.news()
    do {
      try await cancelWhenGracefulShutdown {
        try await Alarm(clock: self.clock).run(news: news) { group, wake in
          let now = self.clock.wallTime
          self.plan()
          while let delivery = self.takeDue(at: now) {
            group.addTask {
              try await self.deliver(delivery, post)
              wake()
            }
          }
          return self.state.withLock { $0.underWay < self.settings.concurrency ? $0.queue.nextDue : nil }
        }
      }
    } catch is CancellationError {
      return
    }
  }

  /// Turns what happened into deliveries.
  private func plan() {
    let planned = world.withState { state in
      let planned = state.outbox.compactMap { id in
        state.realms[id.realm].log[id.sequence].map { (id, $0.facts, deliveries(of: $0, in: state)) }
      }
      state.outbox.removeAll(keepingCapacity: true)
      for (id, _, deliveries) in planned {
        let count = deliveries.reduce(0) { $0 + ($1.isDuplicate ? 0 : 1) }
        state.realms[id.realm].log.update(id.sequence) { $0.openDeliveries = count }
      }
      return planned
    }
    state.withLock { state in
      for (_, facts, deliveries) in planned {
        let plan = DeliveryPlan(facts, settings)
        if deliveries.isEmpty { state.tally.unaddressed += 1 }
        for delivery in deliveries {
          state.queue.add(delivery, at: delivery.isDuplicate ? plan.duplicate ?? plan.first : plan.first)
        }
      }
    }
  }

  private func deliveries(of record: NotificationRecord, in world: WorldState) -> [Delivery] {
    let id = NotificationID(realm: record.facts.realm, sequence: record.facts.sequence)
    guard let destination = destinations[id.realm] else { return [] }
    var deliveries: [Delivery]
    switch destination.version {
    case .v2: deliveries = [Delivery(notification: id, typeV1: nil)]
    // Apple sends TEST as version 2 wherever the URL expects version 1.
    case .v1 where record.facts.kind.type == .test: deliveries = [Delivery(notification: id, typeV1: nil)]
    case .v1:
      guard case .purchase(let transaction, _, _) = record.facts.content else { return [] }
      deliveries = record.facts.kind.typesV1(isSubscription: world.product(of: transaction).isSubscription)
        .map { Delivery(notification: id, typeV1: $0) }
    }
    if DeliveryPlan(record.facts, settings).duplicate != nil {
      deliveries += deliveries.map { Delivery(notification: $0.notification, typeV1: $0.typeV1, isDuplicate: true) }
    }
    return deliveries
  }

  private func takeDue(at now: Timestamp) -> Delivery? {
    while true {
      let candidate = state.withLock { state in
        state.underWay < settings.concurrency ? state.queue.popDue(by: now) : nil
      }
      guard let delivery = candidate else { return nil }
      let subject = subject(of: delivery)
      let isTaken = state.withLock { state in
        if let subject, !state.told.insert(subject).inserted {
          state.held[subject, default: []].append(delivery)
          return false
        }
        state.underWay += 1
        return true
      }
      if isTaken { return delivery }
    }
  }

  /// What orders a first attempt among others; nil for what has no order: retries, duplicates, news about no purchase.
  private func subject(of delivery: Delivery) -> Int64? {
    guard delivery.attempts == 0, !delivery.isDuplicate else { return nil }
    let id = delivery.notification
    return world.withState { state in
      guard case .purchase(let transaction, _, _)? = state.realms[id.realm].log[id.sequence]?.facts.content else {
        return nil
      }
      return transaction.originalId
    }
  }

  /// The first attempt is over: the next one about the same may go.
  private func release(_ subject: Int64?, at now: Timestamp) {
    guard let subject else { return }
    state.withLock { state in
      state.told.remove(subject)
      for held in state.held.removeValue(forKey: subject) ?? [] { state.queue.add(held, at: now) }
    }
  }

  private func deliver(_ delivery: Delivery, _ post: Post) async throws {
    let id = delivery.notification
    let subject = subject(of: delivery)
    defer { release(subject, at: clock.wallTime) }
    guard let destination = destinations[id.realm], let (facts, environment, body) = try body(of: delivery) else {
      state.withLock { $0.underWay -= 1 }
      return
    }
    let moment = clock.wallTime
    let outcome = await post(destination.url, body)
    let isCutOff = Task.isCancelled && outcome.result != .success
    onAttempt(
      DeliveryAttempt(
        notificationUUID: facts.uuid.text, type: delivery.type(facts.kind), number: delivery.attempts + 1,
        isDuplicate: delivery.isDuplicate, date: moment, url: destination.url, body: body,
        outcome: isCutOff ? nil : outcome))
    if isCutOff {
      // Cut off by our own end: nobody's failure, and nothing Apple would have recorded.
      state.withLock { $0.underWay -= 1 }
      return
    }
    let next = DeliveryQueue.next(
      after: delivery, outcome: outcome, at: moment, version: delivery.typeV1 == nil ? .v2 : .v1,
      environment: environment,
      settings: settings)
    record(outcome, of: delivery, at: moment, isOver: next == nil)
    state.withLock { state in
      state.underWay -= 1
      state.tally.count(delivery, kind: facts.kind, outcome: outcome)
      if let next {
        state.queue.add(next.delivery, at: next.due)
      } else if outcome.result == .success {
        state.tally.acknowledged += delivery.isDuplicate ? 0 : 1
      } else if !delivery.isDuplicate {
        state.tally.abandoned += 1
      }
    }
    guard outcome.result != .success else { return }
    let gaveUp = next == nil && !delivery.isDuplicate
    logger.log(
      level: gaveUp ? .notice : .debug, gaveUp ? "gave up on a notification" : "a delivery failed",
      metadata: [
        "notificationUUID": "\(facts.uuid.text)", "type": "\(facts.kind)", "result": "\(outcome.result.rawValue)",
        "attempt": "\(delivery.attempts + 1)",
      ])
  }

  /// The body to post: signed now, or with the signatures of the first attempt. nil when the record is gone.
  private func body(
    of delivery: Delivery
  ) throws(SigningError) -> (NotificationFacts, AppStoreEnvironment, [UInt8])? {
    let id = delivery.notification
    if let type = delivery.typeV1 {
      let found = world.withState { state -> (SubjectV1, NotificationFacts, AppStoreEnvironment)? in
        guard let record = state.realms[id.realm].log[id.sequence], let subject = state.subjectV1(of: record) else {
          return nil
        }
        return (subject, record.facts, state.realms[id.realm].environment)
      }
      return found.map { ($0.1, $0.2, $0.0.body(type)) }
    }
    let found = world.withState { state in state.realms[id.realm].log[id.sequence].map { state.subject(of: $0) } }
    guard let subject = found else { return nil }
    let signed = try signatory.sign(subject)
    guard subject.signatures == nil else { return (subject.facts, subject.environment, postBody(signed.jws)) }
    // A duplicate can be signed at the same time: what was signed first is what both send.
    let first = world.withState { state in
      state.realms[id.realm].log.update(id.sequence) { $0.signatures = $0.signatures ?? signed.signatures }
      return state.realms[id.realm].log[id.sequence].map { state.subject(of: $0) }
    }
    guard let first, first.signatures != signed.signatures else {
      return (subject.facts, subject.environment, postBody(signed.jws))
    }
    return (subject.facts, subject.environment, postBody(try signatory.sign(first).jws))
  }

  private func record(_ outcome: PostOutcome, of delivery: Delivery, at moment: Timestamp, isOver: Bool) {
    guard !delivery.isDuplicate else { return }
    let id = delivery.notification
    world.withState { state in
      state.realms[id.realm].log.update(id.sequence) { record in
        if delivery.typeV1 == nil { record.attempts.append(SendAttempt(date: moment, result: outcome.result)) }
        if isOver { record.openDeliveries -= 1 }
      }
    }
  }
}
