// A shared secret from a notification. It can be compared but not printed.

/// A password from a version 1 notification. It cannot be printed or reflected, so it cannot end up in a log.
public struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The password; nil if it is not a string and therefore not a valid secret.
  private let utf8: [UInt8]?

  /// Creates a secret from the value of a member.
  init(_ value: JSON) {
    utf8 = String(jsonValue: value).map { Array($0.utf8) }
  }

  /// The length in bytes; nil for a password that is not a string.
  var length: Int? { utf8?.count }

  /// Whether this is the given secret, byte for byte. The comparison takes the same time for every secret of the same
  /// length. A password that is not a string equals no secret.
  public func isEqual(toUTF8 secret: [UInt8]) -> Bool {
    guard let utf8 else { return false }
    guard utf8.count == secret.count else { return false }
    var difference: UInt8 = 0
    for (one, other) in zip(utf8, secret) { difference |= one ^ other }
    return difference == 0
  }

  /// A text that does not reveal the secret.
  public var description: String { "a secret" }
  /// A text that does not reveal the secret.
  public var debugDescription: String { description }
  /// A mirror that does not reveal the secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
