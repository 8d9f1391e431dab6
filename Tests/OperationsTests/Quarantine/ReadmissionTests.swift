import MillraceTime
import AppStore
import AppStoreSigning
import Foundation
import MillraceRecords
import Testing

@testable import Operations
import MillraceCore

@Suite("Verifying a quarantined body again")
struct ReadmissionTests {
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  private func judge(
    _ value: [UInt8], _ version: QuarantineRecord.Version, reason: Refusal.Reason?, withApp: Bool = true,
    secretOf: [String]? = nil
  ) async throws -> AdmittedNotification {
    try await Readmission(fixture.configuration(withApp: withApp), clock: .system).judge(
      QuarantineRecord(
        value: value, version: version, reason: reason, receivedAt: Fixture.signedDate,
        secretOf: secretOf ?? [fixture.app.bundleId]))
  }

  private func refusal(
    _ value: [UInt8], _ version: QuarantineRecord.Version, reason: Refusal.Reason?, withApp: Bool = true,
    secretOf: [String]? = nil
  ) async -> Refusal.Reason? {
    await #expect(throws: Refusal.self) {
      try await judge(value, version, reason: reason, withApp: withApp, secretOf: secretOf)
    }?.reason
  }

  @Test("a version 2 body is verified again, regardless of the record's headers")
  func version2() async throws {
    let sample = try fixture.sample(.refund)
    for reason in Refusal.Reason.allCases.map(Optional.some) + [nil] {
      let admitted = try await judge(sample.jws, .v2, reason: reason)
      #expect(admitted.typeLabel == "REFUND")
    }
    #expect(await refusal(sample.jws, .v2, reason: .appNotConfigured, withApp: false) == .appNotConfigured)
    #expect(await refusal(Array("x.y.z".utf8), .v2, reason: .chain) == .malformed)
  }

  @Test("a version 1 body is admitted if its secret was correct and its app is now configured")
  func version1() async throws {
    let value = try ResponseBodyV1.Envelope(parsing: fixture.sampleV1(.refund)).bytes
    for reason in [Refusal.Reason.appNotConfigured, .environmentNotConfigured] {
      #expect(try await judge(value, .v1, reason: reason).typeLabel == "REFUND")
    }
    #expect(await refusal(value, .v1, reason: .appNotConfigured, withApp: false) == .appNotConfigured)
    #expect(await refusal(Array("{".utf8), .v1, reason: .appNotConfigured) == .malformed)
  }

  @Test("a version 1 body without a correct secret stays in quarantine")
  func unvouched() async throws {
    let value = try ResponseBodyV1.Envelope(parsing: fixture.sampleV1(.refund)).bytes
    for reason in [Refusal.Reason.wrongSecret, .chain, nil] {
      #expect(await refusal(value, .v1, reason: reason) == .wrongSecret)
    }
    #expect(await refusal(value, .v1, reason: .appNotConfigured, secretOf: []) == .wrongSecret)
    #expect(await refusal(value, .v1, reason: .appNotConfigured, secretOf: ["com.example.gone"]) == .wrongSecret)
  }

  @Test("a version 1 body is admitted to a later configured app only if that app has its secret")
  func anotherAppsSecret() async throws {
    // The ingress keeps such a body: it has the other app's secret, and names an app that is not configured.
    var configuration = fixture.configuration(withApp: false)
    let body = fixture.sampleV1(.refund)
    let refused = #expect(throws: Refusal.self) {
      try NotificationAdmission(configuration, clock: .system).v1(body: body)
    }
    let refusal = try #require(refused)
    #expect(refusal.reason == .appNotConfigured && refusal.secretOf == ["com.example.other"])
    let evidence = try #require(refusal.evidence)
    let record = QuarantineRecord(
      value: evidence, version: .v1, reason: refusal.reason, receivedAt: Fixture.signedDate, secretOf: refusal.secretOf)
    let kept = try #require(QuarantineRecord(record.producerRecord(topic: QuarantineRecord.topic).read()))
    #expect(kept.secretOf == ["com.example.other"])

    let ownSecret = fixture.directory.appendingPathComponent("own-secret")
    try Data("fedcba9876543210fedcba9876543210".utf8).write(to: ownSecret)
    let shared = configuration.apps[0].sharedSecretFiles
    configuration.apps += fixture.configuration().apps
    for (files, isAdmitted) in [
      ([ownSecret.path], false), (shared, true), ([ownSecret.path] + shared, true), ([], false),
    ] {
      configuration.apps[1].sharedSecretFiles = files
      let readmission = try Readmission(configuration, clock: .system)
      do {
        let admitted = try await readmission.judge(kept)
        #expect(isAdmitted && admitted.typeLabel == "REFUND", "\(files)")
      } catch {
        #expect(!isAdmitted && error.reason == .wrongSecret, "\(files): \(error)")
      }
    }
  }

  @Test("a body for an environment that is still not configured stays in quarantine")
  func environment() async throws {
    var configuration = fixture.configuration()
    configuration.apps[0].environments = [.sandbox]
    let value = try ResponseBodyV1.Envelope(parsing: fixture.sampleV1(.refund)).bytes
    let readmission = try Readmission(configuration, clock: .system)
    let refusal = await #expect(throws: Refusal.self) {
      try await readmission.judge(
        QuarantineRecord(
          value: value, version: .v1, reason: .environmentNotConfigured, receivedAt: nil,
          secretOf: [fixture.app.bundleId]))
    }
    #expect(refusal?.reason == .environmentNotConfigured)
  }
}
