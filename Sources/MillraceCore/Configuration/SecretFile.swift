/// A secret that is read from a file. Printing it shows a mask.
package struct SecretFile: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  /// The text shown instead of a secret.
  static let mask = "********"

  private let bytes: [UInt8]

  /// Reads the secret from the file at `path`. A newline at the end is not part of it.
  ///
  /// - Throws: ``MillraceError`` that names the file if it cannot be read or is empty.
  package init(_ path: String) throws(MillraceError) {
    var bytes = try Files.read(path, limit: 64 << 10)
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard !bytes.isEmpty else {
      throw MillraceError(
        .configuration, "the secret is empty", at: path, remedy: "write the secret into the file, or name another file")
    }
    self.bytes = bytes
  }

  /// Calls `body` with the bytes, to compare them or pass them to a library. Never show them.
  package func withBytes<Result>(_ body: ([UInt8]) throws -> Result) rethrows -> Result { try body(bytes) }

  /// The mask.
  package var description: String { Self.mask }
  /// The mask.
  package var debugDescription: String { Self.mask }

  /// Returns whether the value of the librdkafka property `name` is a secret.
  ///
  /// It knows the names in librdkafka's CONFIGURATION.md and recognises words such as `password` in future names.
  static func isSecretProperty(_ name: String) -> Bool {
    let name = name.lowercased()
    if ["ssl.key.pem", "sasl.oauthbearer.config", "sasl.jaas.config"].contains(name) { return true }
    return ["password", "secret", "token", "passphrase", "private"].contains { name.contains($0) }
      && !name.hasSuffix(".url") && !name.hasSuffix(".location")
  }
}
