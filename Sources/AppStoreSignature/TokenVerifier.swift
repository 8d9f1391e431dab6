// Verifies a token of any kind: signature, chain, date, revocation and identity.
import AppStore

/// The common part of all ``SignedDataVerifier`` methods.
///
/// It uses no actor and no lock around the work, so that the tasks of one verifier can use all cores.
struct TokenVerifier: Sendable {
  let builder: ChainBuilder
  let cache: ChainCache
  let revocation: (any RevocationChecking)?
  let now: @Sendable () -> Timestamp
  let innerTokens: InnerTokenCheck

  /// Verifies a compact JWS.
  func verify<Payload: SignedPayload>(
    _ type: Payload.Type, _ jws: some Collection<UInt8>, identity: IdentityPolicy
  ) async throws(VerificationError) -> Verified<Payload> {
    let token = try examine(jws)
    let payload = Payload(json: token.payload)
    if let fault = payload.kindFault { throw fault }
    let chain: ProvenChain
    do {
      chain = try await prove(token, at: payload.effectiveDate ?? now())
    } catch {
      let concernsChain = error.reason == .chain || error.reason == .chainLength
      throw concernsChain && identity.fault(in: payload.claims) == nil ? error.asOnlyChainFault() : error
    }
    try await checkRevocation(of: chain)
    if let fault = identity.fault(in: payload.claims) { throw fault }
    return Verified(payload: payload, chain: chain.certificates)
  }

  /// Uses a result, because the standard library's closures do not support typed errors.
  func examine(_ jws: some Collection<UInt8>) throws(VerificationError) -> ExaminedToken {
    let examine = { (bytes: UnsafeRawBufferPointer) -> Result<ExaminedToken, VerificationError> in
      Result { () throws(VerificationError) in try ExaminedToken(bytes, cache: cache) }
    }
    if let result = jws.withContiguousStorageIfAvailable({ examine(UnsafeRawBufferPointer($0)) }) {
      return try result.get()
    }
    return try Array(jws).withUnsafeBytes(examine).get()
  }

  /// Returns the chain if it leads to a trusted root and was valid at `moment`.
  private func prove(_ token: ExaminedToken, at moment: Timestamp) async throws(VerificationError) -> ProvenChain {
    switch token.chain {
    case .proven(let chain):
      if let fault = chain.fault(at: moment) { throw fault }
      return chain
    case .recognised(let chain, let headerSegment):
      if let fault = chain.fault(at: moment) { throw fault }
      cache.insert(chain, headerSegment: headerSegment)
      return chain
    case .unproven(let leaf, let intermediate, let headerSegment):
      cache.countBuilt()
      let chain = try await builder.prove(leaf, intermediate)
      if let fault = chain.fault(at: moment) { throw fault }
      cache.insert(chain, headerSegment: headerSegment)
      return chain
    case .faulty(let fault):
      throw fault
    }
  }

  private func checkRevocation(of chain: ProvenChain) async throws(VerificationError) {
    guard let revocation else { return }
    switch await revocation.status(of: chain.certificates) {
    case .good: return
    case .revoked(let detail): throw VerificationError(.revoked, "the chain was revoked: \(detail)")
    case .unavailable(let detail):
      throw VerificationError(.temporary, "cannot check whether the chain was revoked: \(detail)")
    }
  }
}
