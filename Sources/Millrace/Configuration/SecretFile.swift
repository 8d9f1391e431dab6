// Secrets of the configuration: read from files only, never shown.

/// The secret in a file. Printing it shows a mask.
struct SecretFile: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  /// What is shown in a secret's place.
  static let mask = "********"

  private let bytes: [UInt8]

  /// Reads the secret in the file at `path`; one newline at the end is not part of it.
  ///
  /// - Throws: ``MillraceError`` that names the file, when it cannot be read or is empty.
  init(_ path: String) throws(MillraceError) {
    var bytes = try Files.read(path, limit: 64 << 10)
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard !bytes.isEmpty else {
      throw MillraceError(
        .configuration, "the secret is empty", at: path, remedy: "write the secret into the file, or name another")
    }
    self.bytes = bytes
  }

  /// Gives the bytes to `body`; for comparing them or handing them to a library, never for showing them.
  func withBytes<Result>(_ body: ([UInt8]) throws -> Result) rethrows -> Result { try body(bytes) }

  /// The mask.
  var description: String { Self.mask }
  /// The mask.
  var debugDescription: String { Self.mask }

  /// Whether the value of the librdkafka property `name` is a secret.
  ///
  /// By the names of librdkafka's CONFIGURATION.md, and by what a name says for properties it may gain.
  static func isSecretProperty(_ name: String) -> Bool {
    let name = name.lowercased()
    if ["ssl.key.pem", "sasl.oauthbearer.config", "sasl.jaas.config"].contains(name) { return true }
    return ["password", "secret", "token", "passphrase", "private"].contains { name.contains($0) }
      && !name.hasSuffix(".url") && !name.hasSuffix(".location")
  }
}
