// The broker of the log in memory as a shared thing: one lock around the value, calls that wait for a change, and the one
// timer that carries out what is due.

internal import AppStore
internal import Clocks
internal import Kafka
internal import Synchronization

final class BrokerHost: Sendable {
  private struct Waiter {
    var change: LogChange
    var isWoken = false
    var continuation: CheckedContinuation<Void, Never>?
  }

  private struct State {
    var broker: InMemoryBroker
    var waiters: [UInt64: Waiter] = [:]
    var waiting: [LogChange: Set<UInt64>] = [:]
    var lastWaiter: UInt64 = 0
    /// When the timer wakes.
    var alarm: Duration?
  }

  let clock: MillraceClock
  private let state: Mutex<State>
  private let timer = Mutex<Task<Void, Never>?>(nil)

  init(limits: InMemoryBroker.Limits, clock: MillraceClock) {
    self.clock = clock
    state = Mutex(State(broker: InMemoryBroker(limits: limits)))
  }

  deinit { timer.withLock { $0?.cancel() } }

  /// The wall clock, as records carry it.
  var time: Int64 { clock.wallTime.millisecondsSince1970 }

  // MARK: - Changing

  /// Carries out a request, after everything that was due before it.
  func update<Value: Sendable, Failure: Error>(
    _ body: (inout InMemoryBroker, Duration) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let now = clock.now.elapsed
    let (result, woken, alarm) = state.withLock { state in
      state.broker.expire(now: now)
      let result = Result { () throws(Failure) in try body(&state.broker, now) }
      return (result, Self.wake(&state), Self.alarm(&state))
    }
    for continuation in woken { continuation.resume() }
    if let alarm { schedule(alarm) }
    return try result.get()
  }

  /// What `body` answers, as soon as it answers something: it is asked again after each change of what it waits for. Nil
  /// when the task is cancelled while it waits.
  func answer<Value: Sendable, Failure: Error>(
    _ body: (inout InMemoryBroker, Duration) throws(Failure) -> Answer<Value>
  ) async throws(Failure) -> Value? {
    while true {
      switch try ask(body) {
      case .now(let value): return value
      case .later(let ticket): await wait(ticket)
      }
      if Task.isCancelled { return nil }
    }
  }

  /// The same for a caller that has to see the end, cancelled or not.
  func certainAnswer<Value: Sendable>(_ body: (inout InMemoryBroker, Duration) -> Answer<Value>) async -> Value {
    while true {
      switch ask(body) {
      case .now(let value): return value
      case .later(let ticket): await waitInAnyCase(ticket)
      }
    }
  }

  /// What came of asking once.
  enum Asked<Value: Sendable>: Sendable {
    case now(Value)
    case later(WaitTicket)
  }

  /// A place among those who wait. Whoever has one waits, or the place is kept for nothing.
  struct WaitTicket: Sendable { fileprivate var id: UInt64 }

  func ask<Value: Sendable, Failure: Error>(
    _ body: (inout InMemoryBroker, Duration) throws(Failure) -> Answer<Value>
  ) throws(Failure) -> Asked<Value> {
    let now = clock.now.elapsed
    let (result, woken, alarm) = state.withLock { state in
      state.broker.expire(now: now)
      let result = Result<Asked<Value>, Failure> { () throws(Failure) in
        switch try body(&state.broker, now) {
        case .now(let value): return Asked.now(value)
        case .after(let change): return Asked.later(Self.enlist(change, &state))
        }
      }
      return (result, Self.wake(&state), Self.alarm(&state))
    }
    for continuation in woken { continuation.resume() }
    if let alarm { schedule(alarm) }
    return try result.get()
  }

  // MARK: - Waiting

  private static func enlist(_ change: LogChange, _ state: inout State) -> WaitTicket {
    state.lastWaiter += 1
    state.waiters[state.lastWaiter] = Waiter(change: change)
    state.waiting[change, default: []].insert(state.lastWaiter)
    return WaitTicket(id: state.lastWaiter)
  }

  private static func wake(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
    guard !state.broker.changes.isEmpty else { return [] }
    let changes = state.broker.changes
    state.broker.changes = []
    let ids = changes.flatMap { state.waiting.removeValue(forKey: $0) ?? [] }.sorted()
    return ids.compactMap { id in
      guard let continuation = state.waiters[id]?.continuation else {
        state.waiters[id]?.isWoken = true
        return nil
      }
      state.waiters[id] = nil
      return continuation
    }
  }

  private func wait(_ ticket: WaitTicket) async {
    await withTaskCancellationHandler {
      await waitInAnyCase(ticket)
    } onCancel: {
      let continuation = state.withLock { state in
        let waiter = state.waiters.removeValue(forKey: ticket.id)
        if let waiter { state.waiting[waiter.change]?.remove(ticket.id) }
        return waiter?.continuation
      }
      continuation?.resume()
    }
  }

  private func waitInAnyCase(_ ticket: WaitTicket) async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        guard let waiter = state.waiters[ticket.id] else { return true }
        if waiter.isWoken {
          state.waiters[ticket.id] = nil
        } else {
          state.waiters[ticket.id]?.continuation = continuation
        }
        return waiter.isWoken
      }
      if isOver { continuation.resume() }
    }
  }

  // MARK: - Time

  /// The moment for which the timer has to be set, where it is not set early enough.
  private static func alarm(_ state: inout State) -> Duration? {
    guard state.broker.areDeadlinesStale else { return nil }
    state.broker.areDeadlinesStale = false
    guard let next = state.broker.nextDeadline, state.alarm.map({ next < $0 }) ?? true else { return nil }
    state.alarm = next
    return next
  }

  private func schedule(_ moment: Duration) {
    let clock = clock
    timer.withLock { timer in
      // Of two that come at the same time the earlier alarm holds, whichever is here first.
      guard state.withLock({ $0.alarm == moment }) else { return }
      timer?.cancel()
      timer = Task { [weak self] in
        do { try await clock.sleep(until: MillraceClock.Instant(elapsed: moment)) } catch { return }
        self?.ring(moment)
      }
    }
  }

  private func ring(_ moment: Duration) {
    state.withLock { state in
      guard state.alarm == moment else { return }
      state.alarm = nil
      state.broker.areDeadlinesStale = true
    }
    // Expiry is the first thing an update does.
    update { _, _ in }
  }
}

/// What a request has to say at the moment.
enum Answer<Value: Sendable>: Sendable {
  case now(Value)
  /// Nothing before this changes.
  case after(LogChange)
}
