// Runs the built `millrace-forward` on the embedded cluster with two receivers. One does not respond.

import AppStore
import AppStoreSigning
import MillraceTime
import Foundation
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTesting
import TestEnvironment
import Testing

#if canImport(Glibc)
  import Glibc
#endif

@Suite(.timeLimit(.minutes(15))) struct ForwardProcessTests {
  private static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("millrace-forward")

  @Test func `an unreachable receiver does not delay others, and SIGTERM stops the process cleanly`() async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("forward-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { do { try FileManager.default.removeItem(at: directory) } catch { Issue.record(error) } }
    let gone = try await OldReceiver.serving({ _, _ in .answer(200) }) { $0.url }
    try await OldReceiver.serving({ _, tries in tries == 0 ? .answer(200) : .answer(500) }) { receiver in
      let file = directory.appendingPathComponent("millrace.yaml")
      func text(_ servers: String) -> String {
        """
        kafka: { bootstrapServers: "\(servers)", durability: relaxed }
        topics: { directory: "\(Project.root)/topics", lanes: 2 }
        trust: { roots: ["\(directory.path)/root.der"] }
        apps: [{ bundleId: \(SampleApp().bundleId), appAppleId: \(SampleApp().appAppleId), environments: [Production, Sandbox] }]
        workers:
          forward-gone: { settings: { url: "\(gone)" } }
          forward-old: { settings: { url: "\(receiver.url)", headerFiles: { x-secret: "\(directory.path)/secret" } } }
        admin: { host: 127.0.0.1, port: 0 }
        """
      }
      let configuration = try LoadedConfiguration.load(text: text("unknown:1")).configuration
      let catalog = try TopicCatalog.load(configuration)
      let cluster = try EmbeddedCluster()
      try cluster.create(catalog)
      try text(cluster.bootstrapServers).write(to: file, atomically: true, encoding: .utf8)
      var fixtures = try NotificationFixtures(router: catalog.router, from: MillraceClock.system.wallTime, seed: 5)
      try Data(fixtures.chain.rootDER).write(to: directory.appendingPathComponent("root.der"))
      try Data("open sesame\n".utf8).write(to: directory.appendingPathComponent("secret"))
      var bodies: [String: String] = [:]
      var records: [ProducerRecord] = []
      for kind in [SampleKind(.didRenew), SampleKind(.refund), SampleKind(.test), SampleKind(.oneTimeCharge)] {
        let fixture = try await fixtures.next(kind)
        records.append(fixture.producerRecord)
        bodies[fixture.id] = "{\"signedPayload\":\"\(String(decoding: fixture.bytes, as: UTF8.self))\"}"
      }
      try await write(records, to: cluster.bootstrapServers)

      let process = Process()
      process.executableURL = Self.executable
      process.arguments = ["--config", file.path]
      process.environment = ["PATH": "/usr/bin:/bin"]
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try ProcessStart.alone { try process.run() }
      defer { if process.isRunning { process.terminate() } }
      await receiver.wait { bodies.count <= $0.count }
      #expect(Dictionary(receiver.posts.map { ($0.id, $0.body) }) { $1 } == bodies)
      #expect(receiver.posts.allSatisfy { $0.headers["x-secret"] == "open sesame" })
      kill(process.processIdentifier, SIGTERM)
      let status = await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          process.waitUntilExit()
          continuation.resume(returning: process.terminationStatus)
        }
      }
      #expect(status == 0)
      #expect(process.terminationReason == .exit)
      withExtendedLifetime(cluster) {}
    }
  }

  private func write(_ records: [ProducerRecord], to servers: String) async throws {
    let producer = try KafkaProducer(KafkaConfiguration(bootstrapServers: servers, clientID: "forward-test"))
    let running = Task { try await producer.run() }
    for record in records { _ = try await producer.send(record) }
    producer.shutDown()
    try await running.value
  }
}
