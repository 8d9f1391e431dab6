// Runs the real millrace-ingress executable, on free ports.

import AppStoreSigning
import Foundation
import MillraceWorker
import Synchronization
import TestEnvironment
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// A running `millrace-ingress`.
///
/// Sendable because its properties do not change after the start, and any thread may call `waitUntilExit`.
final class IngressProcess: @unchecked Sendable {
  private let process: Process
  let port: Int
  let adminPort: Int
  let log: URL

  /// The executable, which SwiftPM places next to the test bundle.
  static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("millrace-ingress")

  /// Starts the process and returns when it accepts connections.
  /// - Parameters:
  ///   - patience: The time limit for a body, in seconds.
  ///   - headPatience: The time limit for the first request head of a connection, in seconds. The default is long,
  ///     because clients open connections in advance.
  ///   - limits: Additional members of `ingress` in the configuration, each with a leading comma.
  init(
    _ fixture: IngressFixture, bootstrapServers: String, patience: Int = 5, headPatience: Int = 300, limits: String = ""
  ) async throws {
    let directory = fixture.directory
    let file = directory.appendingPathComponent("millrace.yaml")
    log = directory.appendingPathComponent("ingress.log")
    let topics = Project.path("topics")
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
    try ProcessStart.alone { [process] in try process.run() }
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

  /// Returns the lines that the process writes, and copies them to a file. Reads the pipe to its end even if the stream
  /// has no reader, because a full pipe would block the process.
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

  /// Sends SIGTERM, as Kubernetes does.
  func terminate() { kill(identifier, SIGTERM) }

  /// Waits for the exit and returns the exit status, 128 plus the signal number if a signal ended the process.
  func exitStatus() async -> Int32 {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [process] in
        process.waitUntilExit()
        let status = process.terminationStatus
        continuation.resume(returning: process.terminationReason == .exit ? status : 128 + status)
      }
    }
  }

  /// The resident memory, in bytes.
  var residentBytes: Int? { memory("VmRSS:") }

  /// The peak of resident memory since the start, in bytes.
  var peakResidentBytes: Int? { memory("VmHWM:") }

  private func memory(_ name: String) -> Int? {
    guard let status = FileManager.default.contents(atPath: "/proc/\(identifier)/status") else { return nil }
    return String(decoding: status, as: UTF8.self).split(separator: "\n")
      .first { $0.hasPrefix(name) }
      .flatMap { Int($0.filter(\.isNumber)) }.map { $0 * 1024 }
  }
}
