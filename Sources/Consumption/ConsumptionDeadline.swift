// Twelve hours, twice: Apple counts from when the request was received, and a team plans from when it was signed. What is
// late by the first is still worth sending until the second.

public import AppStore

/// By when a CONSUMPTION_REQUEST wants its answer.
///
/// App Store Server API, *Send Consumption Information*: "within 12 hours of receiving the notification".
public struct ConsumptionDeadline: Sendable, Hashable {
  /// How long Apple waits.
  public static let time = Duration.seconds(12 * 3_600)
  /// How long before the end an answer that is still missing is reported.
  public static let notice = Duration.seconds(3_600)
  /// What is kept free at the end: an attempt that begins later has no use.
  public static let lastMoment = Duration.seconds(300)
  /// Waits between attempts, by how many there were; the last one is repeated.
  public static let waits: [Duration] = [.seconds(10), .seconds(60), .seconds(60), .seconds(600)]

  /// Signed and twelve hours: an answer after it is sent and marked late.
  public var planned: Timestamp
  /// First received and twelve hours: nothing is sent after it.
  public var final: Timestamp

  /// - Parameters:
  ///   - signedDate: when Apple signed the request.
  ///   - receivedAt: when Kafka first had it.
  public init(signedDate: Timestamp?, receivedAt: Timestamp) {
    final = receivedAt + Self.time
    planned = min(signedDate ?? receivedAt, receivedAt) + Self.time
  }

  /// What comes after an attempt that brought no answer.
  public enum Next: Sendable, Hashable {
    /// Another one after this time.
    case again(after: Duration)
    /// There is no time for another one.
    case over
  }

  /// What whoever failed says about the next attempt.
  public enum Wish: Sendable, Hashable {
    /// Nothing.
    case none
    /// Not sooner than that.
    case notBefore(Duration)
    /// Its turn comes after that time, and is as good as any later one.
    case turn(in: Duration)

    /// Before which an attempt is in vain.
    var time: Duration {
      switch self {
      case .none: .zero
      case .notBefore(let time), .turn(let time): time
      }
    }
  }

  /// What comes after an attempt that failed now.
  ///
  /// - Parameter attempt: how many there were before it.
  public func next(now: Timestamp, attempt: Int, wish: Wish = .none) -> Next {
    let room = final - now - Self.lastMoment
    let shortest = Self.waits[0]
    guard room >= shortest else { return .over }
    let usual = Self.waits[min(max(0, attempt), Self.waits.count - 1)]
    let wait =
      switch wish {
      case .none: usual
      case .notBefore(let time): max(usual, time)
      case .turn(let time): max(shortest, time)
      }
    // Whoever wants more time than there is, is asked once more at the end of it.
    return .again(after: min(wait, room))
  }

  /// How late an answer at `time` is; nil when it is not.
  public func lateness(at time: Timestamp) -> Duration? { time > planned ? time - planned : nil }

  /// Whether nothing may be sent any more.
  public func isOver(at time: Timestamp) -> Bool { time >= final }

  /// When an answer that is still missing is to be reported; the past, when that is already so.
  public var noticeAt: Timestamp { planned - Self.notice }

  /// When an answer that is missing now is to be reported: an hour before the end, and at once where whoever failed
  /// wishes for a time that is too late.
  public func notice(now: Timestamp, wish: Wish) -> Timestamp {
    now + wish.time >= planned ? now : max(now, noticeAt)
  }
}
