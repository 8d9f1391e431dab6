// Secrets: read from files only, compared in constant time, never shown.

internal import Crypto

/// A secret's bytes. Printing one shows a mask; two are compared without telling how much of them agrees.
struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  /// What is shown in a secret's place.
  static let mask = "********"

  private let digest: SHA256Digest
  private let bytes: [UInt8]

  /// A secret of these bytes.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    self.digest = SHA256.hash(data: bytes)
  }

  /// Reads the secret in the file at `path`; one newline at the end is not part of it.
  ///
  /// - Throws: ``MillraceError`` that names the file, when it cannot be read or is empty.
  init(file path: String) throws(MillraceError) {
    var bytes = try Files.read(path, limit: 64 << 10)
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard !bytes.isEmpty else {
      throw MillraceError(
        .configuration, "the secret is empty", at: path, remedy: "write the secret into the file, or name another")
    }
    self.init(bytes)
  }

  /// Whether `candidate` is this secret. Takes the same time wherever they differ, because digests are compared.
  func matches(_ candidate: [UInt8]) -> Bool {
    SHA256.hash(data: candidate) == digest
  }

  /// Gives the bytes to `body`; for handing them to a library, never for showing them.
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
