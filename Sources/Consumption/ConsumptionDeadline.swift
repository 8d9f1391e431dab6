// Computes two deadlines, each twelve hours long. The planned one starts when Apple signed the request; the final one
// starts when the request was received, as Apple's documentation says. An answer between the two is late but still
// worth sending. The final deadline allows for Apple's retries at most, so that a backfilled request gets no extra
// time.

package import AppStore

/// The deadlines for answering a CONSUMPTION_REQUEST.
///
/// App Store Server API, *Send Consumption Information*: "within 12 hours of receiving the notification".
package struct ConsumptionDeadline: Sendable, Hashable {
  /// The time that Apple allows for an answer.
  package static let time = Duration.seconds(12 * 3_600)
  /// The time of Apple's last retry after the first attempt. Apple retries 1, 12, 24, 48 and 72 hours after the
  /// previous attempt.
  static let lastRetry = Duration.seconds(157 * 3_600)
  /// The time before the planned deadline at which the worker reports a missing answer.
  package static let notice = Duration.seconds(3_600)
  /// The time before the final deadline after which the worker starts no further attempt.
  package static let lastMoment = Duration.seconds(300)
  /// The delays between attempts, in order; the last one repeats.
  package static let waits: [Duration] = [.seconds(10), .seconds(60), .seconds(60), .seconds(600)]

  /// Twelve hours after the signature. An answer after this time is sent and marked late.
  package var planned: Timestamp
  /// Twelve hours after the receipt, which counts as no later than Apple's last retry. Nothing is sent after this time.
  package var final: Timestamp

  /// Creates the deadlines of a request.
  /// - Parameters:
  ///   - signedDate: When Apple signed the request; nil if unknown.
  ///   - receivedAt: When the record was first written to Kafka. A producer can set any time, so this never moves a
  ///     deadline before the one that the signature gives.
  package init(signedDate: Timestamp?, receivedAt: Timestamp) {
    let signed = signedDate ?? receivedAt
    planned = signed + Self.time
    final = min(max(receivedAt, signed), signed + Self.lastRetry) + Self.time
  }

  /// The next step after an attempt without an answer.
  package enum Next: Sendable, Hashable {
    /// Try again after this delay.
    case again(after: Duration)
    /// No time is left for another attempt.
    case over
  }

  /// A request about the time of the next attempt, from the provider or the API client that failed.
  package enum RetryHint: Sendable, Hashable {
    /// No preference.
    case none
    /// Not before this delay.
    case notBefore(Duration)
    /// The rate limit has a slot after this delay. A later attempt has no better chance.
    case turn(in: Duration)

    /// The delay before which an attempt is useless.
    var time: Duration {
      switch self {
      case .none: .zero
      case .notBefore(let time), .turn(let time): time
      }
    }
  }

  /// Returns the next step after an attempt that failed now.
  ///
  /// - Parameter attempt: The number of attempts before it.
  package func next(now: Timestamp, attempt: Int, hint: RetryHint = .none) -> Next {
    let room = final - now - Self.lastMoment
    let shortest = Self.waits[0]
    guard room >= shortest else { return .over }
    let usual = Self.waits[min(max(0, attempt), Self.waits.count - 1)]
    let wait =
      switch hint {
      case .none: usual
      case .notBefore(let time): max(usual, time)
      case .turn(let time): max(shortest, time)
      }
    // If the requested delay exceeds the time left, make one last attempt at the end.
    return .again(after: min(wait, room))
  }

  /// Returns how late an answer at `time` is; nil if it is in time.
  package func lateness(at time: Timestamp) -> Duration? { time > planned ? time - planned : nil }

  /// Whether the final deadline has passed.
  package func isOver(at time: Timestamp) -> Bool { time >= final }

  /// The time at which the worker reports a missing answer. It may be in the past.
  package var noticeAt: Timestamp { planned - Self.notice }

  /// Returns when to report an answer that is missing now: an hour before the planned deadline, or at once if the next
  /// attempt would come after that deadline.
  package func notice(now: Timestamp, hint: RetryHint) -> Timestamp {
    now + hint.time >= planned ? now : max(now, noticeAt)
  }
}
