// Limits the bytes of request bodies that the ingress holds. A limit on the number of requests alone would not bound
// its memory.

internal import MillraceCore
internal import Synchronization

/// Counts the bytes reserved for bodies, from their first byte to the response, up to a limit.
final class BodyBudget: Sendable {
  /// The bytes reserved when a body starts. Most of Apple's bodies need at most one more step.
  static let firstStep = 8 << 10

  let bytes: Int
  private let held = Atomic<Int>(0)

  init(bytes: Int) { self.bytes = bytes }

  /// The bytes that are reserved now.
  var current: Int { held.load(ordering: .relaxed) }

  /// Returns the budget for the settings. Connections that only begin a body can use at most half of it. It holds a
  /// body larger than any seen from Apple (19 kB) for every request in flight, and several of the largest allowed
  /// bodies.
  static func bytes(_ settings: IngressSettings) -> Int {
    max(
      64 << 20, 2 * firstStep * settings.maxConnections, (32 << 10) * settings.maxRequestsInFlight,
      4 * max(settings.maxBodyBytes.v1, settings.maxBodyBytes.v2))
  }

  /// Returns the bytes to reserve when `size` of `announced` bytes have arrived. It is twice the received size, which
  /// keeps the number of copies low. The announced size alone reserves nothing, because announcing costs a client
  /// nothing.
  static func room(for size: Int, announced: Int) -> Int {
    min(max(announced, size), max(firstStep, 2 * size))
  }

  /// Reserves bytes until they are given back. Returns false if they exceed the budget.
  func reserve(_ count: Int) -> Bool {
    guard held.add(count, ordering: .relaxed).newValue <= bytes else {
      giveBack(count)
      return false
    }
    return true
  }

  func giveBack(_ count: Int) { held.subtract(count, ordering: .relaxed) }
}
