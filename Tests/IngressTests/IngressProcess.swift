// The real millrace-ingress as a process of its own, started on free ports and stopped by pid.

import AppStoreSigning
import Foundation
import Millrace
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// A running `millrace-ingress`.
///
/// Sendable: after the start nothing is changed but by the process itself, and `waitUntilExit` may wait on any thread.
final class IngressProcess: @unchecked Sendable {
  private let process: Process
  let port: Int
  let adminPort: Int
  let log: URL

  /// Where SwiftPM puts executables: beside the test bundle.
  static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("millrace-ingress")

  /// Starts the process and returns once it listens.
  /// - Parameters:
  ///   - patience: seconds that a body may take.
  ///   - headPatience: seconds from a connection to its first head; long, because a client may open one ahead of need.
  ///   - limits: further members of `ingress`, each after a comma.
  init(
    _ fixture: IngressFixture, bootstrapServers: String, patience: Int = 5, headPatience: Int = 300, limits: String = ""
  ) async throws {
    let directory = fixture.directory
    let file = directory.appendingPathComponent("millrace.yaml")
    log = directory.appendingPathComponent("ingress.log")
    let topics = packageRoot.appendingPathComponent("topics").path
    try """
    kafka: { bootstrapServers: "\(bootstrapServers)", durability: relaxed }
    topics: { directory: "\(topics)", prefix: "\(fixture.configuration.topics.prefix)", lanes: \(fixture.configuration.topics.lanes) }
    trust: { roots: ["\(directory.path)/root.der"] }
    apps:
      - bundleId: \(fixture.app.bundleId)
        appAppleId: \(fixture.app.appAppleId)
        environments: [Production]
        sharedSecretFiles: ["\(directory.path)/secret"]
    ingress: { host: 127.0.0.1, port: 0, deadline: 10s, bodyTimeout: \(patience)s, headerTimeout: \(headPatience)s\(limits) }
    admin: { host: 127.0.0.1, port: 0 }
    """.write(to: file, atomically: true, encoding: .utf8)
    try Data().write(to: log)
    process = Process()
    process.executableURL = Self.executable
    process.arguments = ["--config", file.path]
    let output = Pipe()
    process.standardOutput = FileHandle.nullDevice
    process.standardError = output
    let lines = try Self.lines(of: output, copiedTo: log)
    try process.run()
    var found: (ingress: Int?, admin: Int?) = (nil, nil)
    var text = ""
    for await line in lines {
      text += line + "\n"
      if let port = Self.port(in: line, after: "listening for notifications") { found.ingress = port }
      if let port = Self.port(in: line, after: "admin listening") { found.admin = port }
      if found.ingress != nil, found.admin != nil { break }
    }
    port = try #require(found.ingress, "millrace-ingress did not start:\n\(text)")
    adminPort = try #require(found.admin, "millrace-ingress has no admin port:\n\(text)")
  }

  /// The lines a process writes, for as long as somebody reads them, and all of them in a file: a full pipe would stop
  /// the process.
  private static func lines(of pipe: Pipe, copiedTo file: URL) throws -> AsyncStream<String> {
    let copy = try FileHandle(forWritingTo: file)
    let (lines, sink) = AsyncStream.makeStream(of: String.self)
    let rest = Mutex<[UInt8]>([])
    pipe.fileHandleForReading.readabilityHandler = { reading in
      let data = reading.availableData
      guard !data.isEmpty else {
        reading.readabilityHandler = nil
        sink.finish()
        return
      }
      copy.write(data)
      rest.withLock { rest in
        rest += data
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          sink.yield(String(decoding: rest[..<end], as: UTF8.self))
          rest.removeFirst(end + 1)
        }
      }
    }
    return lines
  }

  private static func port(in line: String, after message: String) -> Int? {
    guard line.contains(message), let range = line.range(of: #""port":""#) else { return nil }
    return Int(line[range.upperBound...].prefix { $0.isNumber })
  }

  var identifier: pid_t { process.processIdentifier }

  /// Asks the process to end, as Kubernetes does.
  func terminate() { kill(identifier, SIGTERM) }

  /// Waits for the end and returns the exit status; a signal is 128 and its number.
  func exitStatus() async -> Int32 {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [process] in
        process.waitUntilExit()
        let status = process.terminationStatus
        continuation.resume(returning: process.terminationReason == .exit ? status : 128 + status)
      }
    }
  }

  /// Resident memory in bytes, from the kernel.
  var residentBytes: Int? {
    guard let status = FileManager.default.contents(atPath: "/proc/\(identifier)/status") else { return nil }
    return String(decoding: status, as: UTF8.self).split(separator: "\n")
      .first { $0.hasPrefix("VmRSS:") }
      .flatMap { Int($0.filter(\.isNumber)) }.map { $0 * 1024 }
  }
}
