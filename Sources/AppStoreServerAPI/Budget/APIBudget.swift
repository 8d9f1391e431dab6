// Carries budgets out: callers wait in line, one timer per line wakes whoever has the next turn. The line, and not a
// promise given out ahead, decides: so a cancelled caller leaves no gap, and a pause or a new part counts at once.

internal import AppStore
public import Clocks
internal import Synchronization

/// The budgets of a process: all apps, environments and endpoints.
///
/// A process's rate at an endpoint is limit × share × part. `share` leaves room for other servers of the team; `part` is
/// what this process has of what is left: a worker's lanes of all lanes, and a fixed part for everybody else.
public final class APIBudget: Sendable {
  /// How long an endpoint is left alone after a 429 that does not say.
  public static let pauseWithoutTime = Duration.seconds(60)
  /// The shortest pause after a 429, should our clock be ahead of Apple's.
  static let shortestPause = Duration.seconds(1)
  /// How far behind the line's end those who are sent away are spread: a budget that grows is used again that soon.
  static let farthestReturn = Duration.seconds(600)

  private struct Waiter {
    var id: UInt64
    var wake: CheckedContinuation<BudgetError?, Never>
    /// When a turn is of no use to it any more.
    var latest: MillraceClock.Instant?
    var isSentAway: Bool
  }

  private struct Line {
    var budget: RateBudget
    var waiting: [Waiter] = []
    var timer: (at: MillraceClock.Instant, task: Task<Void, Never>)?
    var pausedUntil: Timestamp?
    var taken: UInt64 = 0
    /// The last time that was told to somebody who was sent away.
    var lastReturn: MillraceClock.Instant?

    /// When somebody who cannot wait for `turn` is to come back. No turn is kept for that time.
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
  private let clock: MillraceClock
  private let onPause: @Sendable (BudgetPause) -> Void
  private let state: Mutex<State>

  /// Budgets nothing of which is used yet.
  ///
  /// - Parameters:
  ///   - limits: Apple's, or a simulator's.
  ///   - share: What the team's Millrace may use of them, 0 to 1.
  ///   - part: What this process may use of that, 0 to 1; see ``setPart(_:)``.
  ///   - clock: Turns come by its monotonic time, pauses end by its calendar.
  ///   - onPause: Told of every 429 that this process met, to tell others. Called on the task of the call; must not
  ///     block.
  public init(
    limits: RateLimits = .documented, share: Double = 0.8, part: Double = 1, clock: MillraceClock,
    onPause: @escaping @Sendable (BudgetPause) -> Void = { _ in }
  ) {
    self.limits = limits
    self.share = Self.fraction(share)
    self.clock = clock
    self.onPause = onPause
    self.state = Mutex(State(part: Self.fraction(part)))
  }

  deinit {
    for line in state.withLock({ Array($0.lines.values) }) { line.timer?.task.cancel() }
  }

  /// Changes the part of this process, 0 to 1. Whoever waits is served at the new pace; at 0 they wait.
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

  /// How long a call would wait for its turn if it were made now: zero when it would not; nil when there is no turn as
  /// things are. Nothing is reserved.
  public func delay(for key: BudgetKey) -> Duration? {
    let now = clock.now
    return state.withLock { state in
      let line = line(key, in: &state)
      return line.budget.turn(behind: line.waiting.count, at: now).map { now.duration(to: $0) }
    }
  }

  /// What was used so far of every budget that somebody asked for.
  public func use() -> [BudgetUse] {
    let wallTime = clock.wallTime
    return state.withLock { state in
      state.lines.map { key, line in
        BudgetUse(
          key: key, taken: line.taken, perSecond: rate(key, part: state.part), waiting: line.waiting.count,
          isPaused: line.pausedUntil.map { $0 > wallTime } ?? false)
      }
    }
  }

  /// How many callers wait for their turn now.
  public func waiting(for key: BudgetKey) -> Int { state.withLock { $0.lines[key]?.waiting.count ?? 0 } }

  /// Whether exactly so many callers stand in line and nobody's turn has come: nothing happens before time passes.
  package func isAtRest(callers: Int) -> Bool {
    let now = clock.now
    return state.withLock { state in
      let lines = state.lines.values.filter { !$0.waiting.isEmpty }
      return lines.reduce(0) { $0 + $1.waiting.count } == callers
        && lines.allSatisfy { line in line.budget.turn(at: now).map { $0 > now } ?? true }
    }
  }

  /// Waits until a call may be sent; callers of one budget are served in the order they came.
  ///
  /// - Parameters:
  ///   - deadline: When a turn is of no use any more. What can be foreseen to come later fails at once.
  ///   - patience: How long to wait for it; a turn that a pause or a smaller part moves beyond that is refused as well.
  /// - Throws: ``BudgetError``. Nothing is used up then.
  public func acquire(
    _ key: BudgetKey, before deadline: MillraceClock.Instant? = nil, patience: TurnPatience = TurnPatience()
  ) async throws(BudgetError) {
    // What a 429 has said since goes before a turn that was taken ahead: that one is lost.
    if let taken = patience.taken, taken.use(key), pause(of: key) == nil { return }
    let limit = patience.limit.map { clock.now.advanced(by: $0) }
    let want = Want(latest: [deadline, limit].compactMap(\.self).min(), isSentAway: limit != nil)
    // Whoever has a turn at once does not wait, and need not ask whether it may.
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

  /// Gives no turn before a moment: what another process was told by a 429. ``onPause`` is not called.
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

  /// The pause of a budget that lasts now; nil when there is none.
  public func pause(of key: BudgetKey) -> BudgetPause? {
    let wallTime = clock.wallTime
    return state.withLock { $0.lines[key]?.pausedUntil }.flatMap { $0 > wallTime ? BudgetPause(key, until: $0) : nil }
  }

  /// What a 429 does: pauses here and tells others. Returns when calls may begin again, which is later than it says where
  /// a longer pause holds.
  func limitReached(_ key: BudgetKey, retryAt: Timestamp?) -> Timestamp {
    let wallTime = clock.wallTime
    let until = max(retryAt ?? wallTime + Self.pauseWithoutTime, wallTime + Self.shortestPause)
    let pause = BudgetPause(key, until: until)
    // Of a crowd of calls that meet the same 429 the first one tells.
    let isNews = self.pause(of: key).map { $0.until < until } ?? true
    self.pause(pause)
    if isNews { onPause(pause) }
    return max(until, self.pause(of: key)?.until ?? until)
  }
}

// The line.
extension APIBudget {
  private struct Want {
    var latest: MillraceClock.Instant?
    /// Whether it comes back by itself at the time it is told.
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
          // The flag of a cancellation is raised before `leave` can run, and `leave` needs this lock: one of the two sees
          // the other.
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

  /// Changes a line, then serves whoever has a turn now and sets the timer for the next.
  /// - Parameter mayDelay: Whether turns may come later than they were foreseen.
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

  /// Sends away whoever has no use for a turn as late as theirs is by now.
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

  /// Ends by itself at `moment`; cancelled when the line changes and when the budget goes away.
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
    limits.perSecond(key.endpoint, in: key.environment) * share * part
  }

  private static func fraction(_ value: Double) -> Double { value.isNaN ? 0 : min(max(value, 0), 1) }
}
