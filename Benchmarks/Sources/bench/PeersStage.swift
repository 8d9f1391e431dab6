// The topics, files and processes of `bench peers`.
import AppStore
import AppStoreSigning
import Foundation
import KafkaClient
import MillraceWorker

struct PeersStage {
  let bootstrap: String
  let directory: String
  /// The directory of the peers' sources.
  let peers: String
  let python: String
  let jars: String
  /// The responder of the Python programs with online checks.
  let statuses: StatusServer

  static let lanes = 12

  var rootFile: String { directory + "/root.der" }

  /// The settings of the Python programs, with or without online checks.
  func settingsFile(online: Bool) -> String { directory + (online ? "/online.json" : "/offline.json") }

  /// Writes the settings of the Python programs for notifications that a chain signs.
  func trust(_ chain: SigningChain) throws {
    statuses.serve(chain)
    try Data(chain.rootDER).write(to: URL(fileURLWithPath: rootFile))
    for online in [true, false] {
      var settings = JSONObject()
      settings["bundleId"] = .string(SampleApp().bundleId)
      settings["appAppleId"] = .integer(SampleApp().appAppleId)
      settings["root"] = .string(rootFile)
      settings["online"] = .bool(online)
      try Data(settings.serialized()).write(to: URL(fileURLWithPath: settingsFile(online: online)))
    }
  }

  // MARK: - Programs that read

  func worker(_ topics: RunTopics, count: Int, root: String? = nil) throws -> PeerCost {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    var arguments = ["backlog", "--bootstrap", bootstrap, "--prefix", topics.prefix, "--count", "\(count)"]
    arguments += ["--warm-up", "\(count / 5)"]
    if let root { arguments += ["--root", root] }
    return try PeerCost(try ChildProcess.output(of: own, arguments))
  }

  func javaClient(_ topics: RunTopics, count: Int) throws -> PeerCost {
    let source = peers + "/TransactionalConsumer.java"
    let classes = directory + "/classes"
    if !FileManager.default.fileExists(atPath: classes) {
      _ = try ChildProcess.output(of: "javac", ["-cp", jars + "/*", "-d", classes, source])
    }
    return try PeerCost(
      try ChildProcess.output(
        of: "java",
        [
          "-cp", "\(classes):\(jars)/*", "TransactionalConsumer", bootstrap, topics.input, topics.changelog, "\(count)",
        ]))
  }

  func pythonConsumer(_ topic: String, count: Int, online: Bool) throws -> PeerCost {
    try PeerCost(
      try ChildProcess.output(
        of: python, [peers + "/consumer.py", bootstrap, topic, settingsFile(online: online), "\(count)"],
        environment: statuses.environment))
  }

  // MARK: - An endpoint of an HTTP worker

  var secretFile: String { directory + "/secret" }

  /// Starts a server that answers every request with 204.
  func startEndpoint() throws -> (process: ChildProcess, port: Int) {
    try Data("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".utf8).write(to: URL(fileURLWithPath: secretFile))
    let port = try FreePorts.find(1)[0]
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let process = try ChildProcess(own, ["serve", "nothing", "--port", "\(port)"], log: directory + "/endpoint.log")
    return (process, port)
  }
}

/// The ingress and the Python service, on one cluster.
final class PeerServers {
  struct Server {
    let name: String
    let port: Int
    let process: ChildProcess

    /// The CPU time of the process and its children.
    var cpuSeconds: Double { process.cpuSecondsOfTree }
  }

  let bodies: [[UInt8]]
  let ingress: Server
  let service: Server
  private let directory: String

  init(_ stage: PeersStage, project: String, online: Bool) throws {
    directory = stage.directory
    let now = Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1_000))
    let chain = try SigningChain.generate(at: now)
    var samples = SampleNotifications(chain: chain, seed: 1)
    bodies = try (0..<96).map { _ in try samples.next(SampleKind(.didRenew), signedDate: now).body }
    try stage.trust(chain)
    let ports = try FreePorts.find(3)
    let prefix = "bench-\(UUID().uuidString.prefix(8).lowercased())."
    let configuration = stage.directory + "/millrace.yaml"
    let yaml = """
      kafka: { bootstrapServers: "\(stage.bootstrap)", durability: relaxed }
      topics: { directory: \(URL(fileURLWithPath: project + "/topics").standardizedFileURL.path), prefix: "\(prefix)" }
      trust: { roots: [\(stage.rootFile)] }
      apps: [{ bundleId: \(SampleApp().bundleId), appAppleId: \(SampleApp().appAppleId), environments: [Production] }]
      ingress: { host: 127.0.0.1, port: \(ports[0]) }
      admin: { host: 127.0.0.1, port: \(ports[1]) }
      """
    try Data(yaml.utf8).write(to: URL(fileURLWithPath: configuration))
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let programs = (own as NSString).deletingLastPathComponent
    _ = try ChildProcess.output(
      of: programs + "/millrace", ["topics", "apply", "--yes", "--config", configuration])
    ingress = Server(
      name: "millrace-ingress", port: ports[0],
      process: try ChildProcess(
        programs + "/millrace-ingress", ["--config", configuration], log: directory + "/ingress.log"))
    service = Server(
      name: "the Python service", port: ports[2],
      process: try ChildProcess(
        stage.python,
        [
          stage.peers + "/service.py", "\(ports[2])", stage.bootstrap, prefix + ConsumeStage.topic,
          stage.settingsFile(online: online),
        ], environment: stage.statuses.environment, log: directory + "/service.log"))
  }

  func waitUntilServing() throws {
    for (server, log) in [(ingress, "ingress.log"), (service, "service.log")] {
      var tries = 400
      while !FreePorts.isOpen(server.port) {
        tries -= 1
        guard tries > 0, server.process.isRunning else {
          let text = FileManager.default.contents(atPath: directory + "/" + log) ?? Data()
          throw BenchError("\(server.name) did not start: \(String(decoding: text, as: UTF8.self))")
        }
        usleep(50_000)
      }
    }
  }

  func stop() {
    ingress.process.stop()
    service.process.stop()
  }
}
