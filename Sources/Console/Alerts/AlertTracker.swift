// Decides which alerts are posted: each condition once after it has held for a while, again at most once an hour if there is
// more of it, and its end once. Conditions that come and go at short intervals count as one. A value without I/O or clock:
// time is a parameter.

internal import AppStore
internal import MillraceTime

/// A condition from its beginning to its end.
struct AlertEpisode: Sendable, Hashable {
  /// The condition as it was posted, or as it was last seen. Its count is the smallest since the post.
  var condition: AlertCondition
  /// When it began.
  var since: Timestamp
  /// When it had grown so that it is posted again; nil if it has not.
  var grownAt: Timestamp?
  /// Whether the receiver may have its beginning, because a post was tried.
  var isTried = false
  /// Whether the receiver has what is known of it.
  var isPosted = false
  /// Since when there is more than at the last post and time for another one; nil otherwise.
  var growingSince: Timestamp?
  /// Since when it is over; nil while it holds.
  var endedAt: Timestamp?

  /// When what has to be posted began.
  var newsAt: Timestamp { grownAt ?? since }

  /// The time between a post and another one because there is more.
  static let pause = Duration.seconds(3_600)

  /// Takes the condition as it is now.
  /// - Parameter after: How long there has to be more before it is posted.
  mutating func holds(_ condition: AlertCondition, at now: Timestamp, after: Duration) {
    endedAt = nil
    guard isPosted else {
      self.condition = condition
      return
    }
    // What was posted stays, so that the end names the same.
    guard let count = condition.count else { return }
    let fewest = self.condition.count ?? count
    self.condition.count = min(fewest, count)
    guard count > fewest, now - newsAt >= Self.pause else {
      growingSince = nil
      return
    }
    let growing = growingSince ?? now
    growingSince = growing
    guard now - growing >= after else { return }
    (self.condition, grownAt, growingSince, isPosted) = (condition, growing, nil, false)
  }
}

/// A post to the receiver.
struct Alert: Sendable, Hashable {
  var episode: AlertEpisode
  /// Whether it says that the condition is over.
  var isResolved: Bool { episode.isPosted }
}

/// The episodes that are not over.
struct AlertTracker: Sendable {
  /// The most episodes of one kind at one time, because handlers choose the reasons of dead letters. Further conditions
  /// wait.
  static let limit = 100

  private let after: Duration
  private var episodes: [String: AlertEpisode]

  /// Creates a tracker.
  /// - Parameters:
  ///   - after: How long a condition has to hold, or to be over, before it is posted.
  ///   - restored: The episodes of the process that posted before.
  init(after: Duration, restoring restored: [AlertEpisode] = []) {
    self.after = after
    episodes = Dictionary(restored.map { ($0.condition.id, $0) }) { $1 }
  }

  /// Takes the conditions that hold at a time.
  /// - Parameter unknown: The workers about which Kafka tells nothing now. Their lag and their processes neither begin nor
  ///   end.
  mutating func observe(_ conditions: [AlertCondition], unknown: Set<String> = [], at now: Timestamp) {
    var present: Set<String> = []
    var counts = episodes.values.reduce(into: [:]) { $0[$1.condition.kind, default: 0] += 1 }
    for condition in conditions {
      present.insert(condition.id)
      if episodes[condition.id] == nil {
        guard counts[condition.kind, default: 0] < Self.limit else { continue }
        counts[condition.kind, default: 0] += 1
        episodes[condition.id] = AlertEpisode(condition: condition, since: now)
      } else {
        episodes[condition.id]?.holds(condition, at: now, after: after)
      }
    }
    for (id, episode) in episodes where !present.contains(id) {
      let condition = episode.condition
      if [.lag, .workerNotRunning].contains(condition.kind), unknown.contains(condition.subject) { continue }
      if !episode.isPosted, !episode.isTried {
        episodes[id] = nil
      } else if episode.endedAt == nil {
        // A receiver that may have the beginning gets the end.
        episodes[id]?.isPosted = true
        episodes[id]?.growingSince = nil
        episodes[id]?.endedAt = now
      }
    }
  }

  /// Notes that the conditions are not known now. What holds afterwards has to hold for the whole time again, and likewise
  /// what is over: without Kafka no worker renews its membership, and all of them join again when it answers.
  mutating func lostSight() {
    for (id, episode) in episodes {
      guard episode.isPosted || episode.isTried else {
        episodes[id] = nil
        continue
      }
      episodes[id]?.growingSince = nil
      episodes[id]?.endedAt = nil
    }
  }

  /// Whether every episode is over.
  var isEmpty: Bool { episodes.isEmpty }

  /// Returns the posts to make at a time, the first cause first. A post stays due until it is ``posted(_:)``.
  func due(at now: Timestamp) -> [Alert] {
    episodes.values.filter { episode in
      episode.isPosted ? episode.endedAt.map { now - $0 >= after } ?? false : now - episode.newsAt >= after
    }
    .sorted { ($0.condition.kind.rank, $0.condition.subject) < ($1.condition.kind.rank, $1.condition.subject) }
    .map { Alert(episode: $0) }
  }

  /// Notes that a post is tried.
  mutating func tried(_ alert: Alert) { episodes[alert.episode.condition.id]?.isTried = true }

  /// Notes that the receiver has a post.
  mutating func posted(_ alert: Alert) {
    if alert.isResolved {
      episodes[alert.episode.condition.id] = nil
    } else {
      episodes[alert.episode.condition.id]?.isTried = true
      episodes[alert.episode.condition.id]?.isPosted = true
    }
  }
}
