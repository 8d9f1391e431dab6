// Whether a chain was revoked: the question, without a word on how it is answered.

/// What is known about the revocation of a chain now.
public enum RevocationStatus: Sendable, Hashable {
  /// Neither leaf nor intermediate was revoked, as far as their issuers say.
  case good
  /// An issuer says that leaf or intermediate was revoked.
  case revoked(String)
  /// It could not be found out; asking again later may help.
  case unavailable(String)
}

/// Answers whether a chain was revoked.
///
/// A verifier asks only about chains that lead to a trusted root and whose leaf signed the data, so a forger causes no
/// questions. It asks for every token: answers have to be remembered.
public protocol RevocationChecking: Sendable {
  /// The status of leaf and intermediate, judged now, not when the data was signed. Never waits without a limit.
  func status(of chain: CertificateChain) async -> RevocationStatus
}
