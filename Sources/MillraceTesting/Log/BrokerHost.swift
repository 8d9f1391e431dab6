// Shares the in-memory broker: one lock around the value, calls that wait for a change, and one timer for deadlines.

internal import AppStore
internal import MillraceTime
internal import KafkaClient
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
    /// The time at which the timer fires.
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

  /// The wall clock's time for record timestamps.
  var time: Int64 { clock.wallTime.millisecondsSince1970 }

  // MARK: - Changing

  /// Executes a request, after applying all deadlines that have passed.
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

  /// Returns the answer of `body` as soon as there is one. Calls `body` again after each change that it waits for.
  /// Returns nil if the task is cancelled while it waits.
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

  /// Returns the answer of `body` as ``answer(_:)`` does, but also waits if the task is cancelled.
  func certainAnswer<Value: Sendable>(_ body: (inout InMemoryBroker, Duration) -> Answer<Value>) async -> Value {
    while true {
      switch ask(body) {
      case .now(let value): return value
      case .later(let ticket): await waitInAnyCase(ticket)
      }
    }
  }

  /// The result of asking once.
  enum Attempt<Value: Sendable>: Sendable {
    case now(Value)
    case later(WaitTicket)
  }

  /// A registration to wait. The holder must wait; otherwise the registration is never removed.
  struct WaitTicket: Sendable { fileprivate var id: UInt64 }

  func ask<Value: Sendable, Failure: Error>(
    _ body: (inout InMemoryBroker, Duration) throws(Failure) -> Answer<Value>
  ) throws(Failure) -> Attempt<Value> {
    let now = clock.now.elapsed
    let (result, woken, alarm) = state.withLock { state in
      state.broker.expire(now: now)
      let result = Result<Attempt<Value>, Failure> { () throws(Failure) in
        switch try body(&state.broker, now) {
        case .now(let value): return Attempt.now(value)
        case .after(let change): return Attempt.later(Self.enlist(change, &state))
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

  /// Returns the time for which the timer has to be set, if it is not set early enough.
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
      // If two calls arrive at the same time, the earlier alarm wins in either order.
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
    // Every update first applies the deadlines that have passed.
    update { _, _ in }
  }
}

/// The answer to a request.
enum Answer<Value: Sendable>: Sendable {
  case now(Value)
  /// No answer before this change.
  case after(LogChange)
}
