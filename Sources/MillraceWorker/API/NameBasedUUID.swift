// Identifiers that are the same each time they are computed.

internal import Crypto
internal import MillraceCore

/// UUIDs of version 5: a digest of names.
package enum NameBasedUUID {
  /// The namespace of Millrace. It never changes.
  private static let namespace: [UInt8] = [
    0x6d, 0x1f, 0x5a, 0x0e, 0x3c, 0x42, 0x4c, 0x8b, 0x9a, 0x77, 0x2e, 0x10, 0x58, 0xd4, 0xb3, 0x61,
  ]

  /// Returns the UUID of these names. The same names give the same UUID in every process and every version.
  package static func text(of names: [String]) -> String {
    var hash = Insecure.SHA1()
    hash.update(data: namespace)
    for name in names {
      hash.update(data: Array(name.utf8))
      hash.update(data: [0])
    }
    var bytes = Array(hash.finalize().prefix(16))
    // RFC 9562: version 5 and its variant.
    for (index, mask, bits) in [(6, 0x0f, 0x50), (8, 0x3f, 0x80)] as [(Int, UInt8, UInt8)] where index < bytes.count {
      bytes[index] = bytes[index] & mask | bits
    }
    let text = Hex.text(bytes)
    var groups: [Substring] = []
    var rest = text[...]
    for length in [8, 4, 4, 4, 12] {
      groups.append(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return groups.joined(separator: "-")
  }
}
