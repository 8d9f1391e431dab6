/// The reason a chain, token or sample could not be created.
///
/// Only ``chainNotReadable(part:cause:)`` depends on external data: a file.
public enum SigningError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A certificate could not be built; `certificate` names it.
  case certificateNotBuilt(certificate: String, cause: String)
  /// A key could not be created from its seed or its stored bytes; `key` names it.
  case keyNotMade(key: String, cause: String)
  /// The leaf's key failed to sign.
  case notSigned(cause: String)
  /// An exported chain is incomplete or damaged; `part` names the block.
  case chainNotReadable(part: String, cause: String)
  /// An OCSP request or response does not follow RFC 6960.
  case statusNotAnswered(cause: String)

  /// The failure, its cause and the remedy.
  public var description: String {
    switch self {
    case .certificateNotBuilt(let certificate, let cause):
      "cannot build the \(certificate) certificate (\(cause)); check the validity dates and the shape"
    case .keyNotMade(let key, let cause):
      "cannot create the \(key) key (\(cause)); use another seed, or export the chain again"
    case .notSigned(let cause):
      "the leaf's key failed to sign (\(cause)); generate the chain again"
    case .chainNotReadable(let part, let cause):
      "cannot read the stored chain at \(part) (\(cause)); export it again from the process that generated it"
    case .statusNotAnswered(let cause):
      "cannot respond to the OCSP request (\(cause)); send a DER request for a certificate of this chain"
    }
  }
}
