// The connections of one client, with librdkafka's rules: it knows that a request was not answered, sends it again, and
// never sends to a node that it cannot reach.

internal import KafkaClient

/// The end of a request, as the client sees it.
enum RequestEnd<Value: Sendable>: Sendable {
  case answered(Value)
  case refused(BrokerError)
  /// The connection broke, or the time limit passed. A broker may have received the request, or may still do so.
  case unanswered
  /// No node could be reached within the time limit. The request was not sent.
  case unavailable
  /// The client withdrew its interest in the answer.
  case cancelled
}

final class ClientLink: @unchecked Sendable {
  let cluster: Cluster
  let process: Simulation.ProcessID
  private let name: String
  /// `socket.timeout.ms`.
  let timeout: Duration
  /// The transactional requests that ended without an answer.
  private(set) var unansweredTransactional = 0

  init(_ cluster: Cluster, process: Simulation.ProcessID, name: String, timeout: Duration = .seconds(60)) {
    (self.cluster, self.process, self.name, self.timeout) = (cluster, process, name, timeout)
  }

  typealias Handle<Value> = (Cluster, @escaping (Result<Value, BrokerError>) -> Void) -> Void

  /// Sends a request once, as soon as its node can be reached.
  /// - Parameters:
  ///   - node: Returns the node that serves the request now.
  ///   - limit: The time limit.
  ///   - reply: Receives the end, so that the caller can withdraw.
  func send<Value: Sendable>(
    _ kind: RequestKind, to node: @escaping (Cluster) -> Int?, within limit: Duration? = nil,
    reply: Reply<RequestEnd<Value>> = Reply(), _ handle: @escaping Handle<Value>
  ) async -> RequestEnd<Value> {
    let start = processTime
    let limit = limit ?? timeout
    while node(cluster) == nil {
      // librdkafka connects again with growing pauses.
      await pause(SeedGenerator.duration(.milliseconds(50) ... .milliseconds(500)))
      if processTime - start >= limit { return .unavailable }
    }
    guard let target = node(cluster), let run = cluster.run(of: target) else { return .unavailable }
    let network = cluster.network
    let fate = network.fate(of: kind, from: name)
    let end: (RequestEnd<Value>) -> Void = { [process] end in
      Simulation.deliver(to: process, after: .zero) { reply.resolve(end) }
    }
    Simulation.call(in: process, after: min(limit, timeout)) { reply.resolve(.unanswered) }
    let serve = { [self] (isAnswered: Bool) in
      if !isAnswered { cluster.trace("request", "\(kind.rawValue) of \(name) arrives late") }
      handle(cluster) { [self] result in
        guard isAnswered else {
          if case .failure(let error) = result {
            cluster.trace("request", "late \(kind.rawValue) of \(name): \(error)")
          }
          return
        }
        network.scripted?.answered(kind, of: name)
        Simulation.deliver(to: process, after: network.delay()) {
          switch result {
          case .success(let value): reply.resolve(.answered(value))
          case .failure(let error): reply.resolve(.refused(error))
          }
        }
      }
    }
    let arrive = { [self] (delay: Duration, isAnswered: Bool) in
      Simulation.deliver(to: .world, after: delay) { [self] in
        // A node that was restarted does not have the connection. The late copy of a request arrives on one that is up.
        guard cluster.run(of: target) == run || !isAnswered else { return end(.unanswered) }
        if cluster.isSuspended(target) {
          // Only a question about watermarks is answered from the old state; the node is no longer the leader for others.
          return cluster.whenResumed(target) {
            if kind == .listOffsets, isAnswered { serve(isAnswered) } else if isAnswered { end(.unanswered) }
          }
        }
        guard cluster.run(of: target) != nil, node(cluster) == target else {
          return isAnswered ? end(.unanswered) : ()
        }
        serve(isAnswered)
      }
    }
    switch fate {
    case .delivered: arrive(network.delay(), true)
    case .held(let breaksAfter, let arrivesAfter):
      cluster.trace("fault", "\(kind.rawValue) of \(name) is held for \(arrivesAfter)")
      Simulation.deliver(to: process, after: breaksAfter) { reply.resolve(.unanswered) }
      arrive(max(breaksAfter, arrivesAfter), false)
    case .answerLost:
      cluster.trace("fault", "the answer to \(kind.rawValue) of \(name) is lost")
      arrive(network.delay(), false)
      Simulation.deliver(to: process, after: network.delay() * 4) { reply.resolve(.unanswered) }
    case .silent: cluster.trace("fault", "\(kind.rawValue) of \(name) vanishes")
    case .scripted(let request):
      end(.unanswered)
      request.hold { [cluster] in handle(cluster) { request.arrived($0) } }
    }
    // The node may stop while it has the request.
    watch(target, run, end: end, until: reply)
    let result = await reply.wait()
    cluster.note(kind, of: name, "\(result)")
    if case .unanswered = result, kind.isTransactional { unansweredTransactional += 1 }
    return result
  }

  /// Ends a request whose node stops.
  private func watch<Value>(
    _ node: Int, _ run: Int, end: @escaping (RequestEnd<Value>) -> Void, until reply: Reply<RequestEnd<Value>>
  ) {
    cluster.whenStopped(node, run) { [weak reply] in if reply != nil { end(.unanswered) } }
  }

  /// Sends a request until it is answered or the time limit has passed.
  /// - Parameter retriable: The answers after which the request is sent again.
  func persist<Value: Sendable>(
    _ kind: RequestKind, to node: @escaping (Cluster) -> Int?, within limit: Duration,
    retrying retriable: Set<BrokerError> = [], _ handle: @escaping Handle<Value>
  ) async -> RequestEnd<Value> {
    let start = processTime
    while true {
      let left = limit - (processTime - start)
      guard left > .zero else { return .unanswered }
      let end = await send(kind, to: node, within: left, handle)
      switch end {
      case .refused(let error) where retriable.contains(error): await pause(.milliseconds(50))
      case .unanswered: await pause(.milliseconds(100))
      case .answered, .refused, .unavailable, .cancelled: return end
      }
    }
  }
}

extension RequestEnd {
  /// Returns the answer, or throws the error with which librdkafka ends a call that has no answer.
  func get(_ operation: String) throws(KafkaError) -> Value {
    switch self {
    case .answered(let value): return value
    case .refused(let error): throw error.error(operation, isRetriable: Self.passing.contains(error))
    case .unanswered, .unavailable, .cancelled:
      throw KafkaError(code: .timedOut, operation: operation, reason: "no answer in time", isRetriable: true)
    }
  }

  private static var passing: Set<BrokerError> {
    [.rebalanceInProgress, .concurrentTransactions, .unstableOffsetCommit]
  }
}
