// The interface for revocation checks.

/// The revocation status of a chain.
public enum RevocationStatus: Sendable, Hashable {
  /// According to their issuers, neither the leaf nor the intermediate was revoked.
  case good
  /// An issuer says that the leaf or intermediate was revoked.
  case revoked(String)
  /// The status is unknown. A later query may succeed.
  case unavailable(String)
}

/// Checks whether a chain was revoked.
///
/// A verifier asks only about chains that lead to a trusted root and whose leaf signed the data, so a forger cannot
/// cause queries. It asks for every token, so implementations have to cache results.
public protocol RevocationChecking: Sendable {
  /// Returns the current status of the leaf and intermediate, not the status at the signing date. Must return within a
  /// limited time.
  func status(of chain: CertificateChain) async -> RevocationStatus
}
