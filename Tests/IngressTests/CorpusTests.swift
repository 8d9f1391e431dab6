// Posts data that Apple signed, over HTTP. Reads ../shared; the suite is skipped if that is absent.

import AppStore
import AppStoreSigning
import Foundation
import KafkaClient
import Logging
import MillraceCore
import MillraceRecords
import NIOHTTP1
import TestEnvironment
import Testing

@testable import Ingress

private struct CorpusItem: Decodable, Sendable {
  struct Expected: Decodable, Sendable {
    var valid: Bool?
    var notificationType: String?
    var subtype: String?
    var notificationUUID: String?
    var bundleId: String?
    var appAppleId: Int64?
    var signedDate: Double?
  }

  var id: String
  var kind: String
  var jws: String?
  var expected: Expected

  static let all: [(item: CorpusItem, file: String)] = {
    guard SharedMaterial.isPresent else { return [] }
    do {
      return try SharedMaterial.names(in: "corpus").filter { $0.hasSuffix(".json") }.map {
        (try JSONDecoder().decode(CorpusItem.self, from: Data(SharedMaterial.bytes("corpus/\($0)"))), "corpus/\($0)")
      }
    } catch {
      Issue.record(error, "cannot read the corpus")
      return []
    }
  }()
}

@Suite(
  .enabled(if: SharedMaterial.isPresent, "../shared is absent: data signed by Apple is not tested"),
  .timeLimit(.minutes(15)))
struct CorpusTests {
  @Test func `only notifications signed by Apple are stored, with unchanged bytes`() async throws {
    let items = CorpusItem.all.map(\.item).filter { $0.jws != nil && $0.expected.valid != nil }
    var fixture = try IngressFixture()
    fixture.configuration.trust.roots = []
    let apps = Dictionary(grouping: items.map(\.expected), by: \.bundleId)
    fixture.configuration.apps = apps.compactMap { bundleId, expected in
      guard let bundleId else { return nil }
      var app = AppSettings()
      app.bundleId = bundleId
      app.appAppleId = expected.compactMap(\.appAppleId).first
      app.environments = [.production, .sandbox]
      return app
    }
    try await fixture.run { (ingress) async throws in
      for item in items {
        let isNotification = item.kind == "signedPayload" && item.expected.valid == true
        let body = try JSONEncoder().encode(["signedPayload": item.jws ?? ""])
        let answer = try await ingress.post(Array(body))
        #expect((answer.status == 200) == isNotification, "\(item.id): \(answer)")
      }
      var records: [ConsumerRecord] = []
      for topic in ingress.catalog.notificationTopics { records += try await ingress.records(of: topic.name) }
      let sound = items.filter { $0.kind == "signedPayload" && $0.expected.valid == true }
      #expect(sound.count >= 13)
      #expect(records.count == sound.count)
      for item in sound {
        let record = try #require(records.first { $0.value == item.jws.map { Array($0.utf8) } }, "\(item.id)")
        #expect(record.header("ce_id") == item.expected.notificationUUID, "\(item.id)")
        #expect(
          record.header("ce_type") == item.expected.notificationType.map { NotificationRecord.v2TypePrefix + $0 },
          "\(item.id)")
        #expect(record.header("ce_subtype") == item.expected.subtype, "\(item.id)")
        let time = item.expected.signedDate.map { Timestamp(millisecondsSince1970: Int64($0)).rfc3339 }
        #expect(record.header("ce_time") == time, "\(item.id)")
      }
    }
  }

  @Test func `version 1 bodies with the right secret are accepted, all others are refused`()
    async throws
  {
    let bodies = try CorpusItem.all.filter { $0.item.kind == "v1" }.map { item, file in
      try (item, VersionOneBody(file))
    }
    #expect(bodies.count >= 5)
    var fixture = try IngressFixture()
    let secret = fixture.directory.appendingPathComponent("secret")
    try Data((bodies.compactMap(\.1.password).first ?? "").utf8).write(to: secret)
    fixture.configuration.apps = Set(bodies.compactMap(\.1.bundleId)).sorted().map { bundleId in
      var app = AppSettings()
      app.bundleId = bundleId
      app.appAppleId = 1
      app.sharedSecretFiles = [secret.path]
      return app
    }
    try await fixture.run { (ingress) async throws in
      for (item, body) in bodies {
        let answer = try await ingress.post(body.bytes, to: "/v1")
        #expect((answer.status == 200) == (item.expected.valid == true), "\(item.id): \(answer)")
      }
    }
  }

  @Test func `every notification vector gets the expected answer, and accepted ones are stored`() async throws {
    var counts = (accepted: 0, refused: 0)
    for (settings, vectors) in Dictionary(grouping: try Vector.notifications(), by: \.config) {
      var fixture = try IngressFixture()
      fixture.configuration.trust.roots = [SharedMaterial.path("vectors/\(settings.root)")]
      var app = AppSettings()
      app.bundleId = settings.bundleId
      app.appAppleId = settings.appAppleId
      app.environments = [AppStoreEnvironment(rawValue: settings.environment)]
      fixture.configuration.apps = [app]
      let (accepted, refused) = try await fixture.run { (ingress) async throws in
        var stored: Set<[UInt8]> = []
        var refused = 0
        for vector in vectors {
          let jws = try vector.jws
          let answer = try await ingress.post(Array(#"{"signedPayload":""#.utf8) + jws + Array(#""}"#.utf8))
          switch vector.expect {
          // The outer token is genuine, but the inner token names another app.
          case .accept where vector.id == "nested-transaction-other-bundle":
            #expect(answer.status == 401, "\(vector.id): \(answer)")
          case .accept: #expect(answer.status == 200, "\(vector.id): \(answer)")
          case .reject: #expect(answer.status != 200, "\(vector.id): \(answer)")
          case .either: #expect([200, 400].contains(answer.status), "\(vector.id): \(answer)")
          }
          if answer.status == 200 { stored.insert(jws) } else { refused += 1 }
        }
        var records: [ConsumerRecord] = []
        for topic in ingress.catalog.notificationTopics { records += try await ingress.records(of: topic.name) }
        #expect(Set(records.map(\.value)) == Set(stored.map(Optional.some)))
        #expect(records.count == stored.count)
        return (stored.count, refused)
      }
      counts.accepted += accepted
      counts.refused += refused
    }
    #expect(counts.accepted >= 8 && counts.refused >= 30, "\(counts)")
  }

  /// A test vector: data signed with a chain of its own, and the expected result.
  private struct Vector: Decodable {
    struct Config: Decodable, Hashable {
      var root: String
      var bundleId: String
      var appAppleId: Int64?
      var environment: String
    }

    enum Expectation: Decodable {
      case accept, reject, either

      init(from decoder: any Decoder) throws {
        if let single = try? decoder.singleValueContainer().decode(String.self) {
          self = single == "accept" ? .accept : .reject
        } else {
          let members = try decoder.singleValueContainer().decode([String: JSON].self)
          self = members["either"] == nil ? .reject : .either
        }
      }
    }

    private struct Document: Decodable { var vectors: [Vector] }

    var id: String
    var file: String
    var kind: String
    var config: Config
    var expect: Expectation

    static func notifications() throws -> [Vector] {
      let document = Data(try SharedMaterial.bytes("vectors/vectors.json"))
      return try JSONDecoder().decode(Document.self, from: document).vectors.filter { $0.kind == "notification" }
    }

    var jws: [UInt8] { get throws { try SharedMaterial.bytes("vectors/\(file)") } }
  }

  /// The posted form of a V1 item: its `body` member as compact JSON.
  private struct VersionOneBody {
    var bytes: [UInt8]
    var password: String?
    var bundleId: String?

    init(_ file: String) throws {
      let item = try SharedMaterial.json(file)
      guard case .object(let body)? = item["body"] else {
        bytes = []
        return
      }
      bytes = JSON.object(body).serialized()
      if case .string(let text)? = body["password"] { password = text }
      bundleId = ResponseBodyV1(json: body).bundleId
    }
  }
}
