// A shared secret as it came: comparable, never printable.

/// A password found in a version 1 notification. It cannot be printed or reflected, so that no log can hold it.
public struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Nil for a password that is not a string: it is no secret of anybody's.
  private let utf8: [UInt8]?

  /// The secret that a member of that value carries.
  init(_ value: JSON) {
    utf8 = String(jsonValue: value).map { Array($0.utf8) }
  }

  /// Its bytes; nil for a password that is no string.
  var length: Int? { utf8?.count }

  /// Whether this is that secret, byte for byte. Takes the same time for every secret of one length, whatever of it is
  /// right. A password that came as anything but a string equals nothing.
  public func isEqual(toUTF8 secret: [UInt8]) -> Bool {
    guard let utf8 else { return false }
    guard utf8.count == secret.count else { return false }
    var difference: UInt8 = 0
    for (one, other) in zip(utf8, secret) { difference |= one ^ other }
    return difference == 0
  }

  /// Says nothing of the secret.
  public var description: String { "a secret" }
  /// Says nothing of the secret.
  public var debugDescription: String { description }
  /// Shows nothing of the secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
