// A PostgreSQL server for one test, on a free port of this machine.

import Foundation
import Synchronization
import TestEnvironment

@testable import MillraceCore
@testable import Postgres

/// A PostgreSQL server with its own files.
final class PostgresServer: Sendable {
  /// The folder of the programs; nil if no server is installed.
  static let programs: String? = {
    let root = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    guard let newest = versions.compactMap({ Int($0) }).max() else { return nil }
    let folder = "\(root)/\(newest)/bin"
    return FileManager.default.isExecutableFile(atPath: "\(folder)/initdb") ? folder : nil
  }()

  static let absence = "no PostgreSQL server is installed (apt-get install postgresql): tables are not tested"

  let port: Int
  let folder: String
  /// Whether the server accepts only TLS and a password.
  private let isSecured: Bool
  private let process: Mutex<Process?>

  private init(_ folder: String, port: Int, isSecured: Bool, _ process: Process) {
    (self.folder, self.port, self.isSecured) = (folder, port, isSecured)
    self.process = Mutex(process)
  }

  /// PostgreSQL does not run as root.
  private static func command(_ program: String, _ arguments: [String]) throws -> Process {
    let process = Process()
    let path = "\(programs ?? "")/\(program)"
    if getuid() == 0 {
      process.executableURL = URL(filePath: "/usr/bin/setpriv")
      process.arguments = ["--reuid", "postgres", "--regid", "postgres", "--clear-groups", path] + arguments
    } else {
      process.executableURL = URL(filePath: path)
      process.arguments = arguments
    }
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    return process
  }

  /// Runs a test with a server, and removes the server afterwards.
  /// - Parameter isSecured: Whether the server accepts only TLS and a password, which ``settings(_:)`` then has.
  static func run(isSecured: Bool = false, _ body: (PostgresServer) async throws -> Void) async throws {
    let folder = "\(FileManager.default.temporaryDirectory.path)/millrace-postgres-\(UUID())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    if isSecured { try await makeSecrets(folder) }
    if getuid() == 0 { try await succeed("/bin/chown", ["-R", "postgres", folder]) }
    let access = isSecured ? ["-A", "scram-sha-256", "--pwfile=\(folder)/password"] : ["-A", "trust"]
    let create = try command("initdb", ["-D", "\(folder)/data", "-U", "postgres", "--no-sync"] + access)
    try ProcessStart.alone { try create.run() }
    guard await exitStatus(of: create) == 0 else { throw ServerError(text: "initdb failed") }
    let port = try freePort()
    let server = PostgresServer(folder, port: port, isSecured: isSecured, try start(folder, port, isSecured: isSecured))
    do {
      try await server.waitUntilReady()
      try await body(server)
    } catch {
      await server.kill()
      throw error
    }
    await server.kill()
  }

  private static func exitStatus(of process: Process) async -> Int32 {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        process.waitUntilExit()
        continuation.resume(returning: process.terminationStatus)
      }
    }
  }

  private static func succeed(_ program: String, _ arguments: [String]) async throws {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    try ProcessStart.alone { try process.run() }
    guard await exitStatus(of: process) == 0 else { throw ServerError(text: "\(program) failed") }
  }

  /// Writes a password, the certificate of an authority and one of the server, and the rule that only TLS is accepted.
  private static func makeSecrets(_ folder: String) async throws {
    try Data("a password, not a secret".utf8).write(to: URL(filePath: "\(folder)/password"))
    try Data("hostssl all all 127.0.0.1/32 scram-sha-256\n".utf8).write(to: URL(filePath: "\(folder)/hba.conf"))
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    for name in ["authority", "stranger"] {
      try await succeed(
        "/usr/bin/openssl",
        ["req", "-x509", "-subj", "/CN=\(name)", "-keyout", "\(folder)/\(name).key", "-out", "\(folder)/\(name).pem"]
          + key)
    }
    try await succeed(
      "/usr/bin/openssl",
      [
        "req", "-x509", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-addext",
        "basicConstraints=critical,CA:FALSE", "-CA", "\(folder)/authority.pem", "-CAkey", "\(folder)/authority.key",
        "-keyout", "\(folder)/server.key", "-out", "\(folder)/server.pem",
      ] + key)
  }

  private static func start(_ folder: String, _ port: Int, isSecured: Bool) throws -> Process {
    var settings = ["fsync=off", "listen_addresses=127.0.0.1", "unix_socket_directories="]
    if isSecured {
      settings += ["ssl=on", "ssl_cert_file=\(folder)/server.pem", "ssl_key_file=\(folder)/server.key"]
      settings.append("hba_file=\(folder)/hba.conf")
    }
    let process = try command(
      "postgres", ["-D", "\(folder)/data", "-p", "\(port)"] + settings.flatMap { ["-c", $0] })
    try ProcessStart.alone { try process.run() }
    return process
  }

  /// Ends the server at once, like a crash.
  func kill() async {
    let running = process.withLock { process in
      defer { process = nil }
      return process
    }
    guard let running else { return }
    Foundation.kill(running.processIdentifier, SIGKILL)
    _ = await Self.exitStatus(of: running)
  }

  /// Starts the killed server again.
  func restart() async throws {
    // The processes of the killed server's sessions end a moment later, and hold its memory until then.
    for _ in 0..<100 {
      let process = try Self.start(folder, port, isSecured: isSecured)
      self.process.withLock { $0 = process }
      if (try? await waitUntilReady()) != nil { return }
    }
    throw ServerError(text: "the server did not start again")
  }

  private func waitUntilReady() async throws {
    for _ in 0..<600 {
      if (try? await connect()) != nil { return }
      let isRunning = process.withLock { $0?.isRunning ?? false }
      guard isRunning else { break }
      try await Task.sleep(for: .milliseconds(50))
    }
    throw ServerError(text: "the server is not ready")
  }

  func settings(_ change: (inout PostgresSettings) -> Void = { _ in }) -> PostgresSettings {
    var settings = PostgresSettings()
    settings.url = "postgresql://postgres@127.0.0.1:\(port)/postgres"
    if isSecured {
      settings.url =
        "postgresql://postgres@localhost:\(port)/postgres?hostaddr=127.0.0.1&sslmode=verify-full"
      settings.certificateAuthorityFile = "\(folder)/authority.pem"
      settings.passwordFile = "\(folder)/password"
    }
    change(&settings)
    return settings
  }

  func connect() async throws -> PostgresConnection {
    try await PostgresConnection.open(settings(), application: "test")
  }

  /// The only value of the only row of a query.
  func value(_ sql: String) async throws -> String? {
    try await connect().execute(sql, to: "test").first?.first.flatMap { $0 }
  }

  private static func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(descriptor, pointer, size) == 0 && getsockname(descriptor, pointer, &size) == 0
      }
    }
    guard isBound else { throw ServerError(text: "no free port") }
    return Int(UInt16(bigEndian: address.sin_port))
  }
}

struct ServerError: Error { var text: String }
