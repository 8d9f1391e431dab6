// Decides from the answers of the group's coordinator whether another living process has the name of a static member.

internal import MillraceTime
internal import MillraceRecords

/// The questions of a process that was fenced, or has lost its session or its producer: is there another process with
/// its name?
///
/// Neither being fenced nor another member in the group proves that. A JoinGroup that was delayed in the network can
/// belong to a process that no longer exists, also to a former member of this one. The group removes such a member after
/// its session. So another process lives only if it stays in the group for longer.
struct NameInquiry: Sendable {
  enum Next: Sendable, Hashable {
    /// This process may join: no other process has the name.
    case join
    /// Another living process has the name.
    case taken(host: String)
    /// It is not known yet.
    case ask(after: Duration)
  }

  /// The pause after an answer.
  static let pause = Duration.seconds(1)
  /// The longest pause after questions without an answer.
  static let longestPause = Duration.seconds(5)

  /// The longest time between two answers that one coordinator gives in a row. In a longer one the coordinator may have
  /// been away: a question waits for it, and no error says so.
  static let longestGap = pause + .seconds(2)

  /// The time for which another process has to stay in the group. A coordinator that takes over the group starts the
  /// session of each member anew, and the process may not notice that.
  private let proof: Duration
  private var other: (member: String, since: MillraceClock.Instant)?
  private var lastAnswer: MillraceClock.Instant?
  private var unanswered = 0

  /// Whether the last answer named another process.
  var hasOther: Bool { other != nil }

  /// - Parameter session: The time after which the group removes a silent member.
  init(session: Duration) { proof = session * 2 }

  mutating func answered(_ holder: InstanceHolder, now: MillraceClock.Instant) -> Next {
    unanswered = 0
    let gap = lastAnswer.map { $0.duration(to: now) } ?? .zero
    lastAnswer = now
    guard case .another(let member, let host) = holder else { return .join }
    guard let other, other.member == member, gap <= Self.longestGap else {
      other = (member, now)
      return .ask(after: Self.pause)
    }
    return other.since.duration(to: now) > proof ? .taken(host: host) : .ask(after: Self.pause)
  }

  /// The question was not answered. A new coordinator may have started the sessions anew, so the proof does too.
  mutating func failed() -> Next {
    other = nil
    unanswered += 1
    return .ask(after: min(Self.longestPause, Self.pause * unanswered))
  }
}
