// The result of a verification, in a form for tables of expectations.
import AppStore
import AppStoreSignature
import AppStoreSigning
import Synchronization

/// Accepted, with the result for inner tokens, or refused.
enum Verdict: Sendable, Hashable, CustomStringConvertible {
  case accepted(InnerVerdict)
  case refused(VerificationError)

  var error: VerificationError? {
    if case .refused(let error) = self { error } else { nil }
  }

  var description: String {
    switch self {
    case .accepted(.verified), .accepted(.vouched): "accepted"
    case .accepted(let inner): "accepted, inner \(inner)"
    case .refused(let error): "refused as \(error)"
    }
  }
}

extension SignedDataVerifier {
  /// A verifier that trusts only this chain's root. The test chooses the current time.
  static func trusting(
    _ chain: SigningChain, now: Timestamp = testDate, capacity: Int = 32, revocation: (any RevocationChecking)? = nil,
    innerTokens: InnerTokenCheck = .verified
  ) throws -> SignedDataVerifier {
    var configuration = Configuration()
    configuration.trustedRoots = [chain.rootDER]
    configuration.chainCacheCapacity = capacity
    configuration.revocation = revocation
    configuration.now = { now }
    configuration.innerTokens = innerTokens
    return try SignedDataVerifier(configuration)
  }

  func verdict(_ jws: [UInt8], identity: IdentityPolicy = .any) async -> Verdict {
    do {
      return .accepted(try await verifyNotification(jws, identity: identity).inner)
    } catch {
      return .refused(error)
    }
  }
}

extension IdentityPolicy {
  static let example = IdentityPolicy([
    AppIdentity(bundleId: "com.example.app", appAppleId: 1_234_567_890, environments: [.production])
  ])
}

/// 2026-01-01, the default signing date of the tests' tokens.
let testDate = Timestamp(millisecondsSince1970: 1_767_225_600_000)

/// A current time that the test can move.
final class TestClock: Sendable {
  private let moment: Mutex<Timestamp>

  init(_ moment: Timestamp = testDate) {
    self.moment = Mutex(moment)
  }

  var now: Timestamp { moment.withLock { $0 } }

  func advance(by duration: Duration) {
    moment.withLock { $0 = $0 + duration }
  }
}
