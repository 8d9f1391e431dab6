// The environment of `bench ingress`: a chain, notifications, a cluster and a configuration.
import AppStore
import AppStoreSignature
import AppStoreSigning
import Foundation

final class IngressStage {
  let bodies: [[UInt8]]
  /// In the order of the report: blind (a), ingress (b), three checks (c), one check (d).
  private(set) var contenders: [Contender] = []
  private var cluster: ChildProcess?
  /// The address of the embedded cluster.
  private(set) var bootstrap = ""
  private let directory: String

  init(directory: String, project: String, notifications: Int) throws {
    self.directory = directory
    let now = SignedDataVerifier.systemTime()
    let chain = try SigningChain.generate(at: now)
    var samples = SampleNotifications(chain: chain, seed: 1)
    let signed = try (0..<max(1, notifications)).map { _ in try samples.next(SampleKind(.didRenew), signedDate: now) }
    bodies = signed.map(\.body)
    try Data(signed[0].jws).write(to: URL(fileURLWithPath: directory + "/token.jws"))
    try Data(chain.rootDER).write(to: URL(fileURLWithPath: directory + "/root.der"))
    do {
      try start(topics: URL(fileURLWithPath: project + "/topics").standardizedFileURL.path)
    } catch {
      stop()
      throw error
    }
  }

  private func start(topics: String) throws {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let file = directory + "/bootstrap"
    let cluster = try ChildProcess(own, ["cluster", "--topics", topics, "--bootstrap-file", file])
    self.cluster = cluster
    try Self.wait("the cluster") { FileManager.default.fileExists(atPath: file) || !cluster.isRunning }
    guard let address = FileManager.default.contents(atPath: file) else { throw BenchError("no cluster started") }
    bootstrap = String(decoding: address, as: UTF8.self)

    let ports = try FreePorts.find(5)
    let configuration = directory + "/millrace.yaml"
    try Data(yaml(bootstrap, topics, ingress: ports[1], admin: ports[3]).utf8)
      .write(to: URL(fileURLWithPath: configuration))
    let ingress = (own as NSString).deletingLastPathComponent + "/millrace-ingress"
    func baseline(_ kind: Serve.Kind, _ port: Int) throws -> ChildProcess {
      try ChildProcess(own, ["serve", kind.rawValue, "--port", "\(port)", "--token", directory + "/token.jws"])
    }
    contenders = [
      Contender("a  200 without any check", port: ports[0], process: try baseline(.blind, ports[0])),
      Contender(
        "b  millrace-ingress", port: ports[1],
        process: try ChildProcess(ingress, ["--config", configuration], log: directory + "/ingress.log")),
      Contender("c  three raw P-256 checks", port: ports[2], process: try baseline(.checks, ports[2])),
      Contender("d  one raw P-256 check", port: ports[4], process: try baseline(.check, ports[4])),
    ]
  }

  private func yaml(_ bootstrap: String, _ topics: String, ingress: Int, admin: Int) -> String {
    """
    kafka: { bootstrapServers: "\(bootstrap)", durability: relaxed }
    topics: { directory: \(topics) }
    trust: { roots: [\(directory)/root.der] }
    apps: [{ bundleId: \(SampleApp().bundleId), appAppleId: \(SampleApp().appAppleId), environments: [Production] }]
    ingress: { host: 127.0.0.1, port: \(ingress) }
    admin: { host: 127.0.0.1, port: \(admin) }
    """
  }

  /// Returns when every server accepts connections.
  func waitUntilServing() async throws {
    for contender in contenders {
      try Self.wait(contender.name) { FreePorts.isOpen(contender.port) || !contender.process.isRunning }
      guard contender.process.isRunning else {
        let log = FileManager.default.contents(atPath: directory + "/ingress.log") ?? Data()
        throw BenchError("\(contender.name) exited at once: \(String(decoding: log, as: UTF8.self))")
      }
    }
  }

  private static func wait(_ what: String, until isDone: () -> Bool) throws {
    for _ in 0..<400 {
      if isDone() { return }
      usleep(50_000)
    }
    throw BenchError("\(what) did not start within 20 s")
  }

  /// Stops all processes, the cluster last.
  func stop() {
    for contender in contenders { contender.process.stop() }
    cluster?.stop()
  }
}
