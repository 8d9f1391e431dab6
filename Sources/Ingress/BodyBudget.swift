// How many bytes of bodies the ingress holds at one time: the bound on its memory that a count of requests is not.

internal import Millrace
internal import Synchronization

/// Counts the bytes set aside for bodies between their first byte and their answer, and refuses beyond a number.
final class BodyBudget: Sendable {
  /// What a body is given with its first bytes: most of Apple's need no more than one step beyond it.
  static let firstStep = 8 << 10

  let bytes: Int
  private let held = Atomic<Int>(0)

  init(bytes: Int) { self.bytes = bytes }

  /// Bytes held now.
  var current: Int { held.load(ordering: .relaxed) }

  /// The budget that fits these settings: large enough that connections that do no more than begin a body use up half of
  /// it, that every place can be filled with a body larger than any seen from Apple (19 kB), and that several of the
  /// largest fit.
  static func bytes(_ settings: IngressSettings) -> Int {
    max(
      64 << 20, 2 * firstStep * settings.maxConnections, (32 << 10) * settings.maxRequestsInFlight,
      4 * max(settings.maxBodyBytes.v1, settings.maxBodyBytes.v2))
  }

  /// How many bytes to set aside once `size` have arrived of `announced`: twice as many, so that a body is copied few
  /// times, and never what was only announced, which costs a client nothing.
  static func room(for size: Int, announced: Int) -> Int {
    min(max(announced, size), max(firstStep, 2 * size))
  }

  /// True where so many more bytes may be held; they are then, until given back.
  func take(_ count: Int) -> Bool {
    guard held.add(count, ordering: .relaxed).newValue <= bytes else {
      giveBack(count)
      return false
    }
    return true
  }

  func giveBack(_ count: Int) { held.subtract(count, ordering: .relaxed) }
}
