// Decides when a record is retried, and on which retry topic it waits until then.

internal import AppStore
internal import MillraceCore

/// The retry topics of a worker and the rules for their use.
///
/// A retry topic has a fixed delay: due = append time + delay, so its records are in the order of their due times. A
/// longer wait is a chain of retry topics, the largest delay that fits first. A remainder below the shortest delay is
/// rounded up to it, so the shortest delay is the resolution of a wait. A record runs early only if its deadline would
/// pass in the next retry topic.
struct RetrySchedule: Sendable, Hashable {
  /// The delays, ascending; each greater than zero.
  let delays: [Duration]
  /// The shortest delay.
  let shortest: Duration
  /// The number of handler runs after which a record becomes a dead letter; at least 1.
  let maximumAttempts: Int

  /// Creates the schedule of a policy, with its ``WorkerPolicy/usableRetryDelays``.
  init(_ policy: WorkerPolicy) {
    delays = policy.usableRetryDelays
    shortest = delays.first ?? WorkerPolicy.shortestRetryDelay
    maximumAttempts = max(1, policy.maximumAttempts)
  }

  /// A handler run that did not finish its record.
  struct FailedRun: Sendable, Hashable {
    /// The number of runs, including this one. A run that waits for rate limits does not count.
    var attempt: Int
    /// The time when this run began.
    var began: Timestamp
    /// The delay that the handler asked for; nil means the next delay of the schedule.
    var requested: Duration?
    /// The time after which the record is no longer worth handling; nil means never.
    var deadline: Timestamp?

    init(attempt: Int, began: Timestamp, requested: Duration? = nil, deadline: Timestamp? = nil) {
      self.attempt = attempt
      self.began = began
      self.requested = requested
      self.deadline = deadline
    }
  }

  /// The action for a record whose run failed.
  enum Decision: Sendable, Hashable {
    /// Append the record to this retry topic. It runs at `due`, or a little later if it goes through several topics.
    case delay(delayIndex: Int, due: Timestamp)
    /// Retry at once, because no retry topic ends before the deadline.
    case runNow
    /// Make the record a dead letter.
    case deadLetter(Ending)
  }

  /// The reason why a record is not retried. The raw value is the dead letter's stable code.
  enum Ending: String, Sendable, Hashable {
    /// The maximum number of attempts was reached.
    case attemptsExhausted = "attempts-exhausted"
    /// No attempt is possible before the deadline.
    case deadlineMissed = "deadline-missed"
  }

  /// Decides about a run that failed at `now`.
  func decide(_ run: FailedRun, now: Timestamp) -> Decision {
    guard run.attempt < maximumAttempts else { return .deadLetter(.attemptsExhausted) }
    let wanted = max(run.requested ?? delays[min(max(run.attempt, 1), delays.count) - 1], shortest)
    guard let deadline = run.deadline else { return delay(wanted, now: now) }
    let left = deadline - now
    if shortest <= left { return delay(min(wanted, left), now: now) }
    // Too late to wait. Retry once more, unless the run that just failed was that last attempt.
    let hadRoom = shortest <= deadline - run.began
    return hadRoom && left > .zero ? .runNow : .deadLetter(.deadlineMissed)
  }

  /// Delays a record whose run did not fail, until its rate-limit slot.
  ///
  /// The wait never goes beyond the deadline: slots may become free earlier than predicted, but a dead letter cannot
  /// use them.
  /// - Parameters:
  ///   - turn: The earliest time when the record may run.
  ///   - began: The time when the delayed run began.
  func wait(until turn: Timestamp, began: Timestamp, deadline: Timestamp?, now: Timestamp) -> Decision {
    let wanted = max(turn - now, shortest)
    guard let deadline else { return delay(wanted, now: now) }
    let left = deadline - now
    if shortest <= left { return delay(min(wanted, left), now: now) }
    // No retry topic ends before the deadline. Run once more and wait for the slot in the lane, unless this run already
    // did.
    let hadRoom = shortest <= deadline - began
    return hadRoom && turn < deadline ? .runNow : .deadLetter(.deadlineMissed)
  }

  /// The next step of a delayed record.
  enum Step: Sendable, Hashable {
    /// Run the record at this time.
    case run(at: Timestamp)
    /// Append the record unchanged to another retry topic at this time.
    case move(at: Timestamp, delayIndex: Int)
  }

  /// Returns the next step of a record that was read from a retry topic.
  ///
  /// - Parameters:
  ///   - delayIndex: The index of the retry topic. An index that no longer exists is replaced by the nearest one.
  ///   - appended: The record's timestamp.
  ///   - due: The time that the record waits for.
  ///   - deadline: A retry topic that ends after the deadline is not used.
  func step(delayIndex: Int, appended: Timestamp, due: Timestamp, deadline: Timestamp?) -> Step {
    let here = appended + delays[min(max(delayIndex, 0), delays.count - 1)]
    guard due > here else { return .run(at: here) }
    let next = largestDelay(within: due - here)
    if let deadline, here + delays[next] > deadline { return .run(at: here) }
    return .move(at: here, delayIndex: next)
  }

  private func delay(_ wait: Duration, now: Timestamp) -> Decision {
    .delay(delayIndex: largestDelay(within: wait), due: now + wait)
  }

  private func largestDelay(within wait: Duration) -> Int { delays.lastIndex { $0 <= wait } ?? 0 }
}

extension WorkerPolicy {
  /// The retry schedule of a worker with this policy.
  var schedule: RetrySchedule { RetrySchedule(self) }
}
