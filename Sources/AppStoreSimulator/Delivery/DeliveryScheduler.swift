// Delivers notifications to the registered URLs as Apple would: signed when first sent, and retried with the same bytes
// on Apple's schedule.

internal import AppStore
internal import AppStoreSigning
package import MillraceTime
internal import AsyncHTTPClient
package import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Delivers notifications. A world has exactly one.
package final class DeliveryScheduler: Service {
  private struct State: Sendable {
    var lanes: DeliveryLanes
    var tally = DeliveryTally()
  }

  private let world: World
  private let signer: NotificationSigner
  private let destinations: [RealmID: Destination]
  private let settings: DeliverySettings
  private let clock: MillraceClock
  private let post: Post?
  private let onAttempt: @Sendable (DeliveryAttempt) -> Void
  private let logger: Logger
  private let state: Mutex<State>

  /// Creates a service that delivers everything that happens from now on.
  ///
  /// - Parameters:
  ///   - destinations: the URL for each app and environment. Notifications without a URL are not sent.
  ///   - post: posts notifications; nil to post over HTTP.
  ///   - onAttempt: called after every attempt; must not block.
  package init(
    world: World, signer: NotificationSigner, destinations: [RealmID: Destination], settings: DeliverySettings,
    clock: MillraceClock, post: Post? = nil, onAttempt: @escaping @Sendable (DeliveryAttempt) -> Void = { _ in },
    logger: Logger
  ) {
    self.world = world
    self.signer = signer
    self.destinations = destinations
    self.settings = settings
    self.clock = clock
    self.post = post
    self.onAttempt = onAttempt
    self.logger = logger
    state = Mutex(State(lanes: DeliveryLanes(slots: settings.concurrency)))
    world.withState { $0.hasPostman = true }
  }

  /// The results so far.
  package var tally: DeliveryTally {
    state.withLock { state in
      var tally = state.tally
      tally.waiting = state.lanes.count
      return tally
    }
  }

  /// Delivers until shut down. Attempts in progress are completed or cut off; scheduled ones are not sent.
  package func run() async throws {
    guard let post else {
      let client = HTTPPost.client(connections: settings.concurrency * max(1, destinations.count))
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
          for delivery in self.state.withLock({ $0.lanes.takeDue(by: now) }) {
            group.addTask {
              try await self.deliver(delivery, post)
              wake()
            }
          }
          return self.state.withLock { $0.lanes.nextDue }
        }
      }
    } catch is CancellationError {
      return
    }
  }

  /// Schedules deliveries for new notifications.
  private func plan() {
    let (planned, forgotten) = world.withState { state in
      let planned = state.outbox.compactMap { id in
        state.realms[id.realm].log[id.sequence].map { (id, $0.facts, deliveries(of: $0, in: state)) }
      }
      let forgotten = state.outbox.count - planned.count
      state.outbox.removeAll(keepingCapacity: true)
      for (id, _, deliveries) in planned {
        let count = deliveries.reduce(0) { $0 + ($1.isDuplicate ? 0 : 1) }
        state.realms[id.realm].log.update(id.sequence) { $0.openDeliveries = count }
      }
      return (planned, forgotten)
    }
    state.withLock { state in
      state.tally.forgotten += forgotten
      for (_, facts, deliveries) in planned {
        let plan = DeliveryPlan(facts, settings)
        // Version 1 sends the end of renewal together with the refund that caused it.
        let isToldElsewhere = facts.cause == .refund && destinations[facts.realm]?.version == .v1
        if deliveries.isEmpty, !isToldElsewhere { state.tally.unaddressed += 1 }
        for delivery in deliveries {
          state.lanes.add(delivery, at: delivery.isDuplicate ? plan.duplicate ?? plan.first : plan.first)
        }
      }
    }
  }

  private func deliveries(of record: NotificationLogEntry, in world: WorldState) -> [Delivery] {
    let id = NotificationID(realm: record.facts.realm, sequence: record.facts.sequence)
    guard let destination = destinations[id.realm] else { return [] }
    var purchase: TransactionFacts?
    if case .purchase(let transaction, _, _) = record.facts.content { purchase = transaction }
    var deliveries: [Delivery]
    switch destination.version {
    // Apple sends TEST as version 2 even if the URL expects version 1.
    case .v1 where record.facts.kind.type != .test:
      deliveries = world.typesV1(of: record.facts).map {
        Delivery(notification: id, typeV1: $0, subject: purchase?.originalId)
      }
    case .v1, .v2: deliveries = [Delivery(notification: id, typeV1: nil, subject: purchase?.originalId)]
    }
    if DeliveryPlan(record.facts, settings).duplicate != nil {
      deliveries += deliveries.map { delivery in
        var duplicate = delivery
        duplicate.isDuplicate = true
        return duplicate
      }
    }
    return deliveries
  }

  private func deliver(_ delivery: Delivery, _ post: Post) async throws {
    let id = delivery.notification
    guard let destination = destinations[id.realm], let (facts, environment, body) = try body(of: delivery) else {
      state.withLock { state in
        state.lanes.finish(delivery)
        state.tally.forgotten += delivery.isDuplicate ? 0 : 1
      }
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
      // The simulator ended during the attempt. It is neither a failure nor an attempt that Apple would record.
      state.withLock { $0.lanes.finish(delivery) }
      return
    }
    let next = delivery.next(after: outcome, at: moment, in: environment, settings)
    record(outcome, of: delivery, at: moment, isOver: next == nil)
    state.withLock { state in
      state.lanes.finish(delivery)
      state.tally.count(delivery, kind: facts.kind, outcome: outcome)
      if let next {
        state.lanes.add(next.delivery, at: next.due)
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

  /// Returns the body to post, signed now or with the signatures of the first attempt; nil if the record was dropped.
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
    let signed = try signer.sign(subject)
    guard subject.signatures == nil else { return (subject.facts, subject.environment, postBody(signed.jws)) }
    // A duplicate can be signed concurrently. Both deliveries send the version that was signed first.
    let first = world.withState { state in
      state.realms[id.realm].log.update(id.sequence) { $0.signatures = $0.signatures ?? signed.signatures }
      return state.realms[id.realm].log[id.sequence].map { state.subject(of: $0) }
    }
    guard let first, first.signatures != signed.signatures else {
      return (subject.facts, subject.environment, postBody(signed.jws))
    }
    return (subject.facts, subject.environment, postBody(try signer.sign(first).jws))
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
