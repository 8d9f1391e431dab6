internal import SwiftASN1

/// Reads root certificates from DER or PEM.
enum RootCertificateFile {
  /// Returns the certificates of a file in DER: one for a DER file, one or more for PEM.
  /// - Throws: ``MillraceError`` that names the file.
  static func read(_ path: String) throws(MillraceError) -> [[UInt8]] {
    let bytes = try Files.read(path, limit: 1 << 20)
    // A DER certificate begins with a SEQUENCE longer than 255 bytes. No text begins with these bytes.
    if bytes.starts(with: [0x30, 0x82]) { return [bytes] }
    do {
      let documents = try PEMDocument.parseMultiple(pemString: String(decoding: bytes, as: UTF8.self))
      let certificates = documents.filter { $0.discriminator == "CERTIFICATE" }.map(\.derBytes)
      if !certificates.isEmpty { return certificates }
    } catch {
      throw MillraceError(
        .configuration, "neither DER nor PEM", at: path, remedy: "name a file with a certificate in DER or PEM")
    }
    throw MillraceError(
      .configuration, "no certificate found", at: path, remedy: "name a file with a certificate in DER or PEM")
  }
}
