import AppStore
import AppStoreSignature
import AppStoreSigning
import Testing

@testable import AppStoreSimulator

@Suite struct RotatingLeavesTests {
  private let day = Duration.seconds(86_400)

  @Test func `a leaf signs for its interval under the same root, and a time determines its leaf`() async throws {
    let leaves = RotatingLeaves(try SimulatorFixture.chain.get(), origin: .newYear, interval: day * 30)
    let first = try leaves.chain(at: .newYear + day * 29)
    let second = try leaves.chain(at: .newYear + day * 30)
    let again = try leaves.chain(at: .newYear + day * 59)
    #expect(first.leafDER != second.leafDER)
    #expect(second.leafDER == again.leafDER)
    #expect(first.leafDER == (try leaves.chain(at: .newYear - day)).leafDER)
    #expect(second.rootDER == leaves.rootDER && second.intermediateDER == first.intermediateDER)

    var configuration = SignedDataVerifier.Configuration()
    configuration.innerTokens = .verified
    configuration.trustedRoots = [leaves.rootDER]
    let verifier = try SignedDataVerifier(configuration)
    var samples = SampleNotifications(chain: second, app: SampleApp(bundleId: Rehearsal.app.bundleId), seed: 1)
    let sample = try samples.next(SampleKind(.didRenew), signedDate: .newYear + day * 45)
    let found = try await verifier.verifyNotification(sample.jws, identity: Rehearsal.policy(Rehearsal.production))
    #expect(found.inner == .verified)
  }

  @Test func `without an interval one leaf signs for ever`() throws {
    let leaves = RotatingLeaves(try SimulatorFixture.chain.get(), origin: .newYear, interval: nil)
    #expect(try leaves.chain(at: .newYear + day * 10_000).leafDER == leaves.chain(at: .newYear).leafDER)
  }
}
