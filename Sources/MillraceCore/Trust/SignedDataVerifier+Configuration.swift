package import MillraceTime
package import AppStoreSignature

extension SignedDataVerifier {
  /// Returns a verifier for the roots that `trust` names, or for Apple's root.
  ///
  /// - Throws: ``MillraceError`` that names the file that is unreadable or contains no certificate.
  package static func configured(
    _ trust: TrustSettings, clock: MillraceClock, revocation: (any RevocationChecking)? = nil
  ) throws(MillraceError) -> SignedDataVerifier {
    var configuration = Configuration()
    configuration.now = { clock.wallTime }
    configuration.revocation = revocation
    configuration.innerTokens = trust.innerTokens
    if !trust.roots.isEmpty {
      var roots: [[UInt8]] = []
      for path in trust.roots {
        do { roots += try RootCertificateFile.read(path) } catch { throw error.under(key: "trust.roots") }
      }
      configuration.trustedRoots = roots
    }
    do {
      return try SignedDataVerifier(configuration)
    } catch {
      throw MillraceError(
        .configuration, error.message, at: "trust.roots", remedy: "name files with certificates in DER or PEM")
    }
  }
}
