// Requests that are sent again although Apple refused them. A process that is killed between Apple's answer and the
// commit of its outcome leaves an intent without a result. The next owner of the lane cannot tell whether the call
// reached Apple, so it sends the same bytes. Apple refuses them again, and nothing happens twice.

import AppStore
import AppStoreSimulator

enum Repetitions {
  /// A request to Apple.
  struct Call: Sendable, Hashable {
    var time: Timestamp
    var subscription: String
    /// Whether Apple answered with a permanent refusal.
    var isRefused: Bool
  }

  /// The number of requests that repeat a refusal which a killed process may not have committed. Apple sent that
  /// refusal while a commit could be pending at the kill, or before every lane ran again; the repetition came after the
  /// kill.
  ///
  /// - Parameters:
  ///   - calls: All requests, in order.
  ///   - killed: The time from the kill until every lane was running again.
  ///   - commit: The maximum time of a commit.
  static func explained(_ calls: [Call], killed: Range<Timestamp>?, commit: Duration) -> Int {
    guard let killed else { return 0 }
    let uncommitted = (killed.lowerBound - commit)...killed.upperBound
    var refused: [String: Timestamp] = [:]
    var count = 0
    for call in calls {
      if let told = refused[call.subscription], uncommitted.contains(told), call.time >= killed.lowerBound {
        count += 1
      }
      if call.isRefused { refused[call.subscription] = call.time }
    }
    return count
  }
}

extension Repetitions.Call {
  /// The faults after which the endpoint has decided, even if the caller did not get the answer.
  private static let passing: Set<String?> = [nil, "latency", "answerLost", "truncatedBody"]
  /// The statuses that Apple's gateway returns before the endpoint.
  private static let gates: Set<Int?> = [401, 429]

  /// Creates a call; nil if the request did not reach the endpoint.
  init?(_ request: JournaledRequest) {
    guard let id = request.path.split(separator: "/").last, Self.passing.contains(request.fault),
      !Self.gates.contains(request.status)
    else { return nil }
    let isTold = request.fault == nil || request.fault == "latency"
    self.init(
      time: request.time, subscription: String(id),
      isRefused: isTold && (request.status == 400 || request.status == 403))
  }
}
