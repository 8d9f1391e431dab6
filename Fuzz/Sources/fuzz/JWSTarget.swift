// Fuzzes the processing of a version 2 notification: segments, base64url, header, certificates, signature, payload,
// chain, inner tokens.
internal import AppStore
internal import AppStoreSignature

/// Property: every token that is accepted under the seeds' root is one of the seeds, byte for byte. Only the holder of
/// the chain's keys can make a token, and the keys are discarded when the seeds are written.
struct JWSTarget: FuzzTarget {
  private let verifier: SignedDataVerifier
  private let genuine: Set<[UInt8]>
  private let executor = InlineExecutor()
  /// The app of the seeds. Some forgeries are genuine for another app.
  private let identity = IdentityPolicy([
    AppIdentity(bundleId: "com.example.app", appAppleId: 1_234_567_890, environments: [.production])
  ])

  init(seeds: String) {
    var configuration = SignedDataVerifier.Configuration()
    configuration.trustedRoots = [Failure.contents(of: seeds + "/root.der")]
    configuration.now = { Timestamp(millisecondsSince1970: 1_767_225_600_000) }
    do {
      verifier = try SignedDataVerifier(configuration)
    } catch {
      Failure.report("the seeds' root cannot be used: \(error)")
    }
    // One genuine token per line.
    genuine = Set(Failure.contents(of: seeds + "/genuine.txt").split(separator: UInt8(ascii: "\n")).map(Array.init))
  }

  func run(_ input: UnsafeRawBufferPointer) {
    let jws = [UInt8](input)
    let isAccepted = executor.run { [verifier, identity] in
      do throws(VerificationError) {
        let verified = try await verifier.verifyNotification(jws, identity: identity)
        return verified.inner == .verified
      } catch {
        // Error texts contain input data too.
        if error.description.isEmpty { Failure.report("an error without a description") }
        return false
      }
    }
    if isAccepted, !genuine.contains(jws) { Failure.report("a token that is not one of the seeds was accepted") }
  }
}
