// Sends requests from many clients at once and counts the answers. Ends after a number of requests, not after a time.

import Synchronization

/// The results of posting a list of bodies.
final class Load: Sendable {
  struct Result: Sendable {
    var status: Int?
    var elapsed: Duration
  }

  /// A request to send.
  struct Post: Sendable {
    var path: String
    var body: [UInt8]
  }

  private struct State {
    var next = 0
    var inFlight: Set<Int> = []
    var isFinished = false
    var results: [Int: Result] = [:]
    var waiters: [(condition: @Sendable ([Int: Result]) -> Bool, wake: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  var results: [Int: Result] { state.withLock(\.results) }

  /// Returns the indexes of the bodies that were answered with this status.
  func answered(_ status: Int) -> Set<Int> {
    Set(results.filter { $0.value.status == status }.keys)
  }

  /// The indexes of the bodies that a client has started to send and that have no answer yet.
  var inFlight: Set<Int> { state.withLock(\.inFlight) }

  /// Posts every body once to `/v2`.
  func run(
    _ bodies: [[UInt8]], port: Int, clients: Int, continues: @escaping @Sendable () -> Bool = { true }
  ) async {
    await run(bodies.map { Post(path: "/v2", body: $0) }, port: port, clients: clients, continues: continues)
  }

  /// Posts every body once, from `clients` clients. If a connection fails, the client records nil as the status and
  /// continues while `continues` returns true.
  func run(
    _ posts: [Post], port: Int, clients: Int, continues: @escaping @Sendable () -> Bool = { true }
  ) async {
    state.withLock { state in
      state.next = 0
      state.isFinished = false
    }
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<clients {
        group.addTask {
          while continues() {
            let index = self.state.withLock { state in
              defer { state.next += 1 }
              if state.next < posts.count { state.inFlight.insert(state.next) }
              return state.next
            }
            guard index < posts.count else { return }
            let started = ContinuousClock.now
            var status: Int?
            do {
              status = try await AppleClient.post(posts[index].body, port: port, to: posts[index].path).status
            } catch {
              // The server has stopped or is stopping. Without an answer it promised nothing.
            }
            self.note(index, Result(status: status, elapsed: ContinuousClock.now - started))
          }
        }
      }
    }
    // Remaining waiters would otherwise wait for ever.
    let waiters = state.withLock { state in
      state.isFinished = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.wake.resume() }
  }

  /// Returns when the results meet the condition or all requests have been sent.
  func wait(until condition: @escaping @Sendable ([Int: Result]) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isMet = state.withLock { state in
        if state.isFinished || condition(state.results) { return true }
        state.waiters.append((condition, continuation))
        return false
      }
      if isMet { continuation.resume() }
    }
  }

  private func note(_ index: Int, _ result: Result) {
    let woken = state.withLock { state in
      state.results[index] = result
      state.inFlight.remove(index)
      let results = state.results
      let met = state.waiters.filter { $0.condition(results) }
      if !met.isEmpty { state.waiters.removeAll { $0.condition(results) } }
      return met
    }
    for waiter in woken { waiter.wake.resume() }
  }
}
