// Enforces request rates. Callers wait in a queue; one timer per queue wakes the caller whose slot is next. Slots are
// not assigned in advance. A cancelled caller therefore leaves no gap, and a pause or a new share takes effect
// immediately.

internal import AppStore
public import MillraceTime
internal import Synchronization

/// The request budgets of a process, for all apps, environments and endpoints.
///
/// The rate of a process at an endpoint is limit × share × division × part:
///
/// - `share` leaves room for the team's other servers.
/// - `division` is the worker's share among the workers that call the same endpoint.
/// - `part` is the process's share of that: the lanes it owns divided by all lanes, or a fixed share for processes
///   without lanes.
public final class APIBudget: Sendable {
  /// The pause after a 429 without a `Retry-After` header.
  public static let pauseWithoutTime = Duration.seconds(60)
  /// The shortest pause after a 429, in case the local clock is ahead of Apple's.
  static let shortestPause = Duration.seconds(1)
  /// The longest time after the end of the queue at which a rejected caller is told to retry. A budget that grows is
  /// used again after at most this time.
  static let farthestReturn = Duration.seconds(600)

  private struct Waiter {
    var id: UInt64
    var wake: CheckedContinuation<BudgetError?, Never>
    /// The time after which the caller no longer needs a slot.
    var latest: MillraceClock.Instant?
    var isSentAway: Bool
  }

  private struct Line {
    var budget: RateBudget
    var waiting: [Waiter] = []
    var timer: (at: MillraceClock.Instant, task: Task<Void, Never>)?
    var pausedUntil: Timestamp?
    var isRefused = false
    var taken: UInt64 = 0
    /// The retry time given to the most recently rejected caller.
    var lastReturn: MillraceClock.Instant?

    /// Returns the retry time for a caller that cannot wait for `turn`. No slot is reserved for that time.
    mutating func comeBack(_ turn: MillraceClock.Instant) -> MillraceClock.Instant {
      let next = lastReturn.map { max(turn, $0.advanced(by: budget.interval ?? .zero)) } ?? turn
      let time = min(next, turn.advanced(by: APIBudget.farthestReturn))
      lastReturn = time
      return time
    }
  }

  private struct State {
    var part: Double
    var nextID: UInt64 = 0
    var lines: [BudgetKey: Line] = [:]
  }

  private let limits: RateLimits
  private let share: Double
  private let division: @Sendable (APIEndpoint) -> Double
  private let clock: MillraceClock
  private let onPause: @Sendable (BudgetPause) -> Void
  private let state: Mutex<State>

  /// Creates unused budgets.
  ///
  /// - Parameters:
  ///   - limits: Apple's limits, or a simulator's.
  ///   - share: The share of the limits that the team's Millrace may use, from 0 to 1.
  ///   - division: Returns this worker's share of an endpoint's rate, from 0 to 1. Must always return the same value.
  ///   - part: The share of that for this process, from 0 to 1; see ``setPart(_:)``.
  ///   - clock: Its monotonic time schedules slots; its wall-clock time ends pauses.
  ///   - onPause: Called for every 429 that this process receives, to inform other processes. Called on the task of the
  ///     call;
  ///     must not block.
  public init(
    limits: RateLimits = .documented, share: Double = 0.8,
    division: @escaping @Sendable (APIEndpoint) -> Double = { _ in 1 }, part: Double = 1, clock: MillraceClock,
    onPause: @escaping @Sendable (BudgetPause) -> Void = { _ in }
  ) {
    self.limits = limits
    self.share = Self.fraction(share)
    self.division = division
    self.clock = clock
    self.onPause = onPause
    self.state = Mutex(State(part: Self.fraction(part)))
  }

  deinit {
    for line in state.withLock({ Array($0.lines.values) }) { line.timer?.task.cancel() }
  }

  /// Changes this process's share, from 0 to 1. Waiting callers are served at the new rate; at 0 they keep waiting.
  public func setPart(_ part: Double) {
    state.withLock { state in
      state.part = Self.fraction(part)
      for key in state.lines.keys {
        let rate = rate(key, part: state.part)
        update(key, in: &state, mayDelay: true) { line in
          line.budget.setRate(perSecond: rate)
          line.lastReturn = nil
        }
      }
    }
  }

  /// Returns how long a call would wait for a slot if it were made now. Returns zero if it would not wait, and nil if
  /// the process has no rate for the budget. Nothing is reserved.
  public func delay(for key: BudgetKey) -> Duration? {
    let now = clock.now
    return state.withLock { state in
      let line = line(key, in: &state)
      return line.budget.turn(behind: line.waiting.count, at: now).map { now.duration(to: $0) }
    }
  }

  /// Returns the usage of every budget that was requested so far.
  public func use() -> [BudgetUse] {
    let wallTime = clock.wallTime
    return state.withLock { state in
      state.lines.map { key, line in
        BudgetUse(
          key: key, taken: line.taken, perSecond: rate(key, part: state.part), waiting: line.waiting.count,
          isPaused: line.pausedUntil.map { $0 > wallTime } ?? false, isRefused: line.isRefused)
      }
    }
  }

  /// Returns the number of callers that are waiting for a slot.
  public func waiting(for key: BudgetKey) -> Int { state.withLock { $0.lines[key]?.waiting.count ?? 0 } }

  /// Whether exactly this number of callers is waiting and no slot is due, so nothing happens before time passes.
  package func isAtRest(callers: Int) -> Bool {
    let now = clock.now
    return state.withLock { state in
      let lines = state.lines.values.filter { !$0.waiting.isEmpty }
      return lines.reduce(0) { $0 + $1.waiting.count } == callers
        && lines.allSatisfy { line in line.budget.turn(at: now).map { $0 > now } ?? true }
    }
  }

  /// Waits until a call may be sent. Callers of one budget are served in order of arrival.
  ///
  /// - Parameters:
  ///   - deadline: The time after which a slot is useless. If the slot would come later, the call fails immediately.
  ///   - patience: The longest wait. The call also fails if a pause or a smaller share moves its slot beyond that.
  /// - Throws: ``BudgetError``. No slot is used in that case.
  public func acquire(
    _ key: BudgetKey, before deadline: MillraceClock.Instant? = nil, patience: RateLimitWait = RateLimitWait()
  ) async throws(BudgetError) {
    // A 429 since then invalidates a slot that was taken in advance.
    if let taken = patience.taken, taken.use(key), pause(of: key) == nil { return }
    let limit = patience.limit.map { clock.now.advanced(by: $0) }
    let want = Want(latest: [deadline, limit].compactMap(\.self).min(), isSentAway: limit != nil)
    // A caller that receives a slot immediately does not wait and needs no permission to.
    switch state.withLock({ ask(key, want, in: &$0) }) {
    case .given: return
    case .refused(let error): throw error
    case .later: break
    }
    guard await patience.begin() else { throw state.withLock { sendAway(key, want, in: &$0) } }
    let refusal = await standInLine(key, want)
    await patience.end()
    if let refusal { throw refusal }
  }

  /// Pauses a budget because another process received a 429. Does not call ``onPause``.
  public func pause(_ pause: BudgetPause) {
    let now = clock.now
    let wallTime = clock.wallTime
    let until = min(pause.until, wallTime + RetryAfter.horizon)
    state.withLock { state in
      update(pause.key, in: &state, mayDelay: true) { line in
        line.budget.pause(until: now.advanced(by: until - wallTime))
        line.pausedUntil = max(line.pausedUntil ?? until, until)
      }
    }
  }

  /// Returns the current pause of a budget, or nil if it is not paused.
  public func pause(of key: BudgetKey) -> BudgetPause? {
    let wallTime = clock.wallTime
    return state.withLock { $0.lines[key]?.pausedUntil }.flatMap { $0 > wallTime ? BudgetPause(key, until: $0) : nil }
  }

  /// Notes whether Apple refused the tokens of a call.
  func note(isRefused: Bool, at key: BudgetKey) { state.withLock { $0.lines[key]?.isRefused = isRefused } }

  /// Handles a 429: pauses the budget and informs other processes. Returns when calls may resume, which is later than
  /// `retryAt` if a longer pause is in effect.
  func limitReached(_ key: BudgetKey, retryAt: Timestamp?) -> Timestamp {
    let wallTime = clock.wallTime
    let until = max(retryAt ?? wallTime + Self.pauseWithoutTime, wallTime + Self.shortestPause)
    let pause = BudgetPause(key, until: until)
    // If several calls receive the same 429, only the first one informs the others.
    let isNews = self.pause(of: key).map { $0.until < until } ?? true
    self.pause(pause)
    if isNews { onPause(pause) }
    return max(until, self.pause(of: key)?.until ?? until)
  }
}

// The queue.
extension APIBudget {
  private struct Want {
    var latest: MillraceClock.Instant?
    /// Whether the caller retries by itself at the time it is told.
    var isSentAway: Bool
  }

  private enum Answer {
    case given
    case refused(BudgetError)
    case later
  }

  private func ask(_ key: BudgetKey, _ want: Want, in state: inout State) -> Answer {
    if Task.isCancelled { return .refused(.cancelled) }
    let now = clock.now
    var line = line(key, in: &state)
    if line.waiting.isEmpty, line.budget.take(at: now) {
      line.taken += 1
      state.lines[key] = line
      return .given
    }
    let turn = line.budget.turn(behind: line.waiting.count, at: now)
    guard let latest = want.latest, turn.map({ $0 > latest }) ?? true else { return .later }
    return .refused(sendAway(key, want, in: &state))
  }

  private func sendAway(_ key: BudgetKey, _ want: Want, in state: inout State) -> BudgetError {
    var line = line(key, in: &state)
    defer { state.lines[key] = line }
    return refusal(&line, behind: line.waiting.count, isSentAway: want.isSentAway)
  }

  private func refusal(_ line: inout Line, behind waiting: Int, isSentAway: Bool) -> BudgetError {
    let now = clock.now
    guard let turn = line.budget.turn(behind: waiting, at: now) else { return .tooLate(turn: nil) }
    let time = isSentAway ? line.comeBack(turn) : turn
    return .tooLate(turn: clock.wallTime + now.duration(to: time))
  }

  private func standInLine(_ key: BudgetKey, _ want: Want) async -> BudgetError? {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state in
          // Cancellation sets its flag before it calls `leave`, and `leave` needs this lock. So one of the two sees the
          // other.
          let answer = ask(key, want, in: &state)
          if case .later = answer {
            let waiter = Waiter(id: id, wake: continuation, latest: want.latest, isSentAway: want.isSentAway)
            update(key, in: &state) { $0.waiting.append(waiter) }
          }
          return answer
        }
        switch answer {
        case .given: continuation.resume(returning: nil)
        case .refused(let error): continuation.resume(returning: error)
        case .later: break
        }
      }
    } onCancel: {
      leave(key, id)
    }
  }

  private func leave(_ key: BudgetKey, _ id: UInt64) {
    let waiter: CheckedContinuation<BudgetError?, Never>? = state.withLock { state in
      guard let index = state.lines[key]?.waiting.firstIndex(where: { $0.id == id }) else { return nil }
      var waiter: CheckedContinuation<BudgetError?, Never>?
      update(key, in: &state) { waiter = $0.waiting.remove(at: index).wake }
      return waiter
    }
    waiter?.resume(returning: .cancelled)
  }

  /// Changes a queue, serves the callers whose slots are due and sets the timer for the next slot.
  ///
  /// - Parameter mayDelay: Whether slots may come later than predicted.
  private func update(
    _ key: BudgetKey, in state: inout State, mayDelay: Bool = false, _ change: (inout Line) -> Void
  ) {
    var line = line(key, in: &state)
    change(&line)
    let now = clock.now
    var served = 0
    while served < line.waiting.count, line.budget.take(at: now) {
      line.waiting[served].wake.resume(returning: nil)
      served += 1
    }
    line.waiting.removeFirst(served)
    line.taken += UInt64(served)
    if mayDelay { dismiss(&line, at: now) }
    let turn = line.waiting.isEmpty ? nil : line.budget.turn(at: now)
    if turn != line.timer?.at {
      line.timer?.task.cancel()
      line.timer = turn.map { ($0, timer(key, at: $0)) }
    }
    state.lines[key] = line
  }

  /// Rejects the waiting callers whose slot is now later than their limit.
  private func dismiss(_ line: inout Line, at now: MillraceClock.Instant) {
    var left: [Waiter] = []
    for waiter in line.waiting {
      let turn = line.budget.turn(behind: left.count, at: now)
      if let latest = waiter.latest, turn.map({ $0 > latest }) ?? true {
        waiter.wake.resume(returning: refusal(&line, behind: left.count, isSentAway: waiter.isSentAway))
      } else {
        left.append(waiter)
      }
    }
    line.waiting = left
  }

  /// A task that ends at `moment`. It is cancelled when the queue changes or the budget is released.
  private func timer(_ key: BudgetKey, at moment: MillraceClock.Instant) -> Task<Void, Never> {
    Task { [weak self, clock] in
      do { try await clock.sleep(until: moment) } catch { return }
      self?.ring(key, at: moment)
    }
  }

  private func ring(_ key: BudgetKey, at moment: MillraceClock.Instant) {
    state.withLock { state in
      update(key, in: &state) { if $0.timer?.at == moment { $0.timer = nil } }
    }
  }

  private func line(_ key: BudgetKey, in state: inout State) -> Line {
    state.lines[key] ?? Line(budget: RateBudget(perSecond: rate(key, part: state.part)))
  }

  private func rate(_ key: BudgetKey, part: Double) -> Double {
    limits.perSecond(key.endpoint, in: key.environment) * share * Self.fraction(division(key.endpoint)) * part
  }

  private static func fraction(_ value: Double) -> Double { value.isNaN ? 0 : min(max(value, 0), 1) }
}
