// Limits the number of concurrent expensive requests.

internal import Synchronization

/// A limit for concurrent requests. Callers refuse further requests.
final class AdmissionQuota: Sendable {
  let limit: Int
  private let admitted = Mutex(0)

  init(limit: Int) { self.limit = limit }

  /// Admits one request; returns nil if the limit is reached.
  func admit() -> Admission? {
    let isAdmitted = admitted.withLock { admitted in
      guard admitted < limit else { return false }
      admitted += 1
      return true
    }
    return isAdmitted ? Admission(self) : nil
  }

  fileprivate func leave() { admitted.withLock { $0 -= 1 } }
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
