// The event that tells consumers that a customer was erased. They delete data when they read it, so its name is reserved
// and its whole type is compared.

internal import MillraceCore

/// The event that a worker publishes after it has erased a customer.
package enum ErasureEvent {
  /// The event's name. No outcome may publish an event of this name.
  package static let name = KnownNames.erasure

  /// Returns the name of the worker in the type of this event; nil for every other type.
  /// - Parameter type: The value of `ce_type`.
  package static func worker(ofType type: [UInt8]) -> ArraySlice<UInt8>? {
    let (start, end) = ("dev.millrace.".utf8, ".\(name)".utf8)
    guard type.count > start.count + end.count, type.starts(with: start), type.suffix(end.count).elementsEqual(end)
    else { return nil }
    let worker = type.dropFirst(start.count).dropLast(end.count)
    // The name of an event has dots, the name of a worker has none.
    return worker.contains(UInt8(ascii: ".")) ? nil : worker
  }
}
