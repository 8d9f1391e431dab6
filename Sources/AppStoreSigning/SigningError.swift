/// Why a chain, a token or a sample could not be made.
///
/// Nothing here depends on data from outside except ``chainNotReadable(part:cause:)``, which is about a file.
public enum SigningError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A certificate of the chain could not be built; `certificate` names it.
  case certificateNotBuilt(certificate: String, cause: String)
  /// A key could not be made from its seed or its stored bytes; `key` names it.
  case keyNotMade(key: String, cause: String)
  /// The leaf's key did not sign.
  case notSigned(cause: String)
  /// An exported chain is incomplete or damaged; `part` says which block.
  case chainNotReadable(part: String, cause: String)
  /// An OCSP request or response is not what RFC 6960 describes.
  case statusNotAnswered(cause: String)

  /// What failed, where, and what to do now.
  public var description: String {
    switch self {
    case .certificateNotBuilt(let certificate, let cause):
      "the \(certificate) certificate could not be built (\(cause)); check the validity dates and the shape asked for"
    case .keyNotMade(let key, let cause):
      "the \(key) key could not be made (\(cause)); use another seed, or export the chain again"
    case .notSigned(let cause):
      "the leaf's key did not sign (\(cause)); generate the chain again"
    case .chainNotReadable(let part, let cause):
      "the stored chain cannot be read at \(part) (\(cause)); export it again from the process that made it"
    case .statusNotAnswered(let cause):
      "the OCSP request cannot be answered (\(cause)); send a DER request for a certificate of this chain"
    }
  }
}
