import AppStore
import AppStoreSigning
import Millrace
import Testing

@testable import Operations

@Suite("Judging a quarantined body again")
struct ReadmissionTests {
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  private func judge(
    _ value: [UInt8], _ version: QuarantineRecord.Version, reason: Refusal.Reason?, withApp: Bool = true
  ) async throws -> AdmittedNotification {
    try await Readmission(fixture.configuration(withApp: withApp), clock: .system).judge(
      QuarantineRecord(value: value, version: version, reason: reason, receivedAt: Fixture.signedDate))
  }

  private func refusal(
    _ value: [UInt8], _ version: QuarantineRecord.Version, reason: Refusal.Reason?, withApp: Bool = true
  ) async -> Refusal.Reason? {
    await #expect(throws: Refusal.self) {
      try await judge(value, version, reason: reason, withApp: withApp)
    }?.reason
  }

  @Test("a version 2 body is verified anew, whatever the record says about it")
  func version2() async throws {
    let sample = try fixture.sample(.refund)
    for reason in Refusal.Reason.allCases.map(Optional.some) + [nil] {
      let admitted = try await judge(sample.jws, .v2, reason: reason)
      #expect(admitted.typeLabel == "REFUND")
    }
    #expect(await refusal(sample.jws, .v2, reason: .appNotConfigured, withApp: false) == .appNotConfigured)
    #expect(await refusal(Array("x.y.z".utf8), .v2, reason: .chain) == .malformed)
  }

  @Test("a version 1 body is admitted where the ingress found the secret right and the app is configured now")
  func version1() async throws {
    let value = try ResponseBodyV1.Envelope(parsing: fixture.sampleV1(.refund)).bytes
    for reason in [Refusal.Reason.appNotConfigured, .environmentNotConfigured] {
      #expect(try await judge(value, .v1, reason: reason).typeLabel == "REFUND")
    }
    #expect(await refusal(value, .v1, reason: .appNotConfigured, withApp: false) == .appNotConfigured)
    #expect(await refusal(Array("{".utf8), .v1, reason: .appNotConfigured) == .malformed)
  }

  @Test("a version 1 body that nobody vouched for stays out")
  func unvouched() async throws {
    let value = try ResponseBodyV1.Envelope(parsing: fixture.sampleV1(.refund)).bytes
    for reason in [Refusal.Reason.wrongSecret, .chain, nil] {
      #expect(await refusal(value, .v1, reason: reason) == .wrongSecret)
    }
  }

  @Test("an environment that is still not configured stays out")
  func environment() async throws {
    var configuration = fixture.configuration()
    configuration.apps[0].environments = [.sandbox]
    let value = try ResponseBodyV1.Envelope(parsing: fixture.sampleV1(.refund)).bytes
    let readmission = try Readmission(configuration, clock: .system)
    let refusal = await #expect(throws: Refusal.self) {
      try await readmission.judge(
        QuarantineRecord(value: value, version: .v1, reason: .environmentNotConfigured, receivedAt: nil))
    }
    #expect(refusal?.reason == .environmentNotConfigured)
  }
}
