// The common fixture: an app, a certificate chain, the deployment's topics, and records as the ingress writes them.

import MillraceTime
import AppStore
import AppStoreSigning
import Foundation
import KafkaClient
import MillraceCore
import MillraceRecords
import TestEnvironment

@testable import Operations

struct Fixture {
  static let signedDate = Timestamp(millisecondsSince1970: 1_767_225_600_000)
  static let password = "0123456789abcdef0123456789abcdef"

  let app = SampleApp()
  let chain: SigningChain
  let catalog: TopicCatalog
  /// The files of this test, which are deleted with the last copy of the fixture.
  private let files: TestFiles
  var directory: URL { files.directory }

  init() throws {
    chain = try SigningChain.generate(at: Self.signedDate)
    catalog = try TopicCatalog.load(
      directory: Project.path("topics"), prefix: "", lanes: 3)
    files = try TestFiles()
    try Data(chain.rootDER).write(to: directory.appendingPathComponent("root.der"))
    try Data(Self.password.utf8).write(to: directory.appendingPathComponent("secret"))
  }

  var rootPath: String { directory.appendingPathComponent("root.der").path }

  /// A configuration that trusts ``chain``, with or without the app.
  func configuration(withApp: Bool = true) -> MillraceConfiguration {
    var configuration = MillraceConfiguration()
    configuration.trust.roots = [rootPath]
    configuration.topics.directory = Project.path("topics")
    var settings = AppSettings()
    settings.bundleId = withApp ? app.bundleId : "com.example.other"
    settings.appAppleId = app.appAppleId
    settings.sharedSecretFiles = [directory.appendingPathComponent("secret").path]
    configuration.apps = [settings]
    return configuration
  }

  func sample(_ type: NotificationTypeV2, _ subtype: Subtype? = nil, seed: UInt64 = 1) throws -> SampleNotification {
    var samples = SampleNotifications(chain: chain, app: app, seed: seed)
    return try samples.next(SampleKind(type, subtype), signedDate: Self.signedDate)
  }

  func sampleV1(_ type: NotificationTypeV1, seed: UInt64 = 1) -> [UInt8] {
    var samples = SampleNotificationsV1(app: app, password: Self.password, seed: seed)
    return samples.next(type, at: Self.signedDate).body
  }

  /// The record that the ingress writes for a posted body.
  func record(v2 sample: SampleNotification) async throws -> NotificationRecord {
    let admission = try NotificationAdmission(configuration(), clock: .system)
    return try await admission.v2(body: sample.body).record(
      origin: .post, traceParent: nil, receivedAt: Self.signedDate, router: catalog.router)
  }

  /// The record that the ingress writes for a posted body.
  func record(v1 body: [UInt8]) throws -> NotificationRecord {
    let admission = try NotificationAdmission(configuration(), clock: .system)
    return try admission.v1(body: body).record(
      origin: .post, traceParent: nil, receivedAt: Self.signedDate, router: catalog.router)
  }
}

extension ProducerRecord {
  /// This record as a consumer reads it.
  func read(partition: Int32 = 0, offset: Int64 = 0, timestamp: Int64? = 1_767_225_601_000) -> ConsumerRecord {
    ConsumerRecord(
      topic: topic, partition: partition, offset: offset, timestamp: timestamp, key: key, value: value,
      headers: headers)
  }
}

/// A temporary directory, deleted on deinit.
private final class TestFiles: Sendable {
  let directory: URL

  init() throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("millrace-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: directory) }
}
