// When a record is tried again, and where it waits until then.

internal import AppStore

/// The retry tiers of a worker and the rules by which a record takes them.
///
/// A tier is a topic with a fixed delay: due = append time + delay, so each is in order by itself. A wait that no tier
/// has is a chain of tiers, the largest that fits first. Nothing runs before it was asked to, so what is left below the
/// smallest tier is rounded up to it: the smallest tier is the resolution of a wait.
struct RetrySchedule: Sendable, Hashable {
  /// The tiers' delays, ascending; each longer than zero.
  let delays: [Duration]
  /// The shortest of them.
  let shortest: Duration
  /// Runs of a handler before a dead letter is made; at least 1.
  let maximumAttempts: Int

  private static let standard = Duration.seconds(10)

  /// Sorts the delays, drops what is not longer than zero, and falls back to ten seconds where nothing is left: a worker
  /// without tiers would have nowhere to put what waits.
  init(delays: [Duration], maximumAttempts: Int) {
    let usable = Set(delays.filter { $0 > .zero }).sorted()
    self.delays = usable.isEmpty ? [Self.standard] : usable
    shortest = usable.first ?? Self.standard
    self.maximumAttempts = max(1, maximumAttempts)
  }

  /// A run that did not finish its record.
  struct FailedRun: Sendable, Hashable {
    /// Runs so far, this one included; a wait for budget counts as none.
    var attempt: Int
    /// When this run began.
    var began: Timestamp
    /// What the handler asked for; nil: as the schedule says.
    var requested: Duration?
    /// When the record is worth nothing any more; nil: never.
    var deadline: Timestamp?

    /// A failed run.
    init(attempt: Int, began: Timestamp, requested: Duration? = nil, deadline: Timestamp? = nil) {
      self.attempt = attempt
      self.began = began
      self.requested = requested
      self.deadline = deadline
    }
  }

  /// What becomes of a record that failed.
  enum Decision: Sendable, Hashable {
    /// Appended to this tier; it runs at `due` or, where it goes through several tiers, a little later.
    case park(tier: Int, due: Timestamp)
    /// Once more at once: no tier ends before its deadline.
    case runNow
    /// Given up.
    case deadLetter(Ending)
  }

  /// Why a record is tried no more. The raw value is the dead letter's stable code.
  enum Ending: String, Sendable, Hashable {
    /// It failed as often as it may.
    case attemptsExhausted = "attempts-exhausted"
    /// No try is left before its deadline.
    case deadlineMissed = "deadline-missed"
  }

  /// Decides about a run that failed at `now`.
  func decide(_ run: FailedRun, now: Timestamp) -> Decision {
    guard run.attempt < maximumAttempts else { return .deadLetter(.attemptsExhausted) }
    let wanted = max(run.requested ?? delays[min(max(run.attempt, 1), delays.count) - 1], shortest)
    guard let deadline = run.deadline else { return park(wanted, now: now) }
    let left = deadline - now
    if shortest <= left { return park(min(wanted, left), now: now) }
    // Too late to wait. One more try, unless the one that just failed was already that.
    let hadRoom = shortest <= deadline - run.began
    return hadRoom && left > .zero ? .runNow : .deadLetter(.deadlineMissed)
  }

  /// Parks without a run having failed: until the turn that a budget gives. Not beyond the deadline: turns may come
  /// sooner than foreseen, and what died cannot use them.
  /// - Parameters:
  ///   - turn: The earliest time it may run.
  ///   - began: When the run began that was sent away.
  func wait(until turn: Timestamp, began: Timestamp, deadline: Timestamp?, now: Timestamp) -> Decision {
    let wanted = max(turn - now, shortest)
    guard let deadline else { return park(wanted, now: now) }
    let left = deadline - now
    if shortest <= left { return park(min(wanted, left), now: now) }
    // No tier ends before it: one more run, which waits for its turn in the lane, unless this one did already.
    let hadRoom = shortest <= deadline - began
    return hadRoom && turn < deadline ? .runNow : .deadLetter(.deadlineMissed)
  }

  /// What happens to a parked record next.
  enum Step: Sendable, Hashable {
    /// It runs then.
    case run(at: Timestamp)
    /// It is appended to another tier then, unchanged.
    case move(at: Timestamp, tier: Int)
  }

  /// What happens to a record that was read from a tier.
  ///
  /// - Parameters:
  ///   - tier: The tier it was read from; one that is gone counts as the nearest that is left.
  ///   - appended: The record's timestamp.
  ///   - due: What it was parked for.
  ///   - deadline: A tier that ends after it is not taken any more.
  func step(tier: Int, appended: Timestamp, due: Timestamp, deadline: Timestamp?) -> Step {
    let here = appended + delays[min(max(tier, 0), delays.count - 1)]
    guard due > here else { return .run(at: here) }
    let next = largestTier(within: due - here)
    if let deadline, here + delays[next] > deadline { return .run(at: here) }
    return .move(at: here, tier: next)
  }

  private func park(_ wait: Duration, now: Timestamp) -> Decision {
    .park(tier: largestTier(within: wait), due: now + wait)
  }

  private func largestTier(within wait: Duration) -> Int { delays.lastIndex { $0 <= wait } ?? 0 }
}

extension WorkerPolicy {
  /// The tiers of a worker that is run so.
  var schedule: RetrySchedule { RetrySchedule(delays: retryDelays, maximumAttempts: maximumAttempts) }
}
