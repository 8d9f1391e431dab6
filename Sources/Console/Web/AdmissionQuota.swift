// Limits the number of concurrent expensive requests. Some further requests can wait for a place.

internal import MillraceTime
internal import Synchronization

/// A limit for concurrent requests, with a queue of bounded length. Callers refuse the requests that are not admitted.
final class AdmissionQuota: Sendable {
  private struct Waiter: Sendable {
    var id: Int
    var continuation: CheckedContinuation<Bool, Never>
  }

  private struct State: Sendable {
    var admitted = 0
    var waiters: [Waiter] = []
    var nextID = 0
  }

  let limit: Int
  private let queue: Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - limit: The number of requests at a time.
  ///   - queue: The number of further requests that can wait for a place.
  init(limit: Int, queue: Int = 0) {
    self.limit = limit
    self.queue = queue
  }

  /// The number of requests that are admitted.
  var admitted: Int { state.withLock { $0.admitted } }
  /// The number of requests that wait.
  var waiting: Int { state.withLock { $0.waiters.count } }

  /// Admits one request; returns nil if the limit is reached.
  func admit() -> Admission? {
    let isAdmitted = state.withLock { state in
      guard state.admitted < limit else { return false }
      state.admitted += 1
      return true
    }
    return isAdmitted ? Admission(self) : nil
  }

  /// Admits one request as soon as a place is free; returns nil if the queue is full, or if no place becomes free in time.
  /// - Throws: `CancellationError`.
  func admit(within patience: Duration, by clock: MillraceClock) async throws -> Admission? {
    // An admission that comes too late is released, and so frees its place.
    try await clock.result(within: patience) { [self] in await next() } ?? nil
  }

  /// Waits in the queue. Cancellation ends the wait without an admission.
  private func next() async -> Admission? {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    let isAdmitted = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer: Bool? = state.withLock { state in
          // The handler below runs either before this check, or after the waiter is in the queue.
          if Task.isCancelled { return false }
          if state.admitted < limit {
            state.admitted += 1
            return true
          }
          guard state.waiters.count < queue else { return false }
          state.waiters.append(Waiter(id: id, continuation: continuation))
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
      }
      waiter?.continuation.resume(returning: false)
    }
    return isAdmitted ? Admission(self) : nil
  }

  /// Passes the place to the request that waits for the longest time, or frees it.
  fileprivate func leave() {
    let next: Waiter? = state.withLock { state in
      guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
      state.admitted -= 1
      return nil
    }
    next?.continuation.resume(returning: true)
  }
}

/// The admission of one request. It ends with ``end()`` or when the last reference is released, which covers responses
/// whose body is never written.
final class Admission: Sendable {
  private let quota: Mutex<AdmissionQuota?>

  fileprivate init(_ quota: AdmissionQuota) { self.quota = Mutex(quota) }

  deinit { end() }

  /// Frees the place for another request. Further calls have no effect.
  func end() {
    let quota = self.quota.withLock { quota in
      defer { quota = nil }
      return quota
    }
    quota?.leave()
  }
}
