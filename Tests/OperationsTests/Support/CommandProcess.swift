// Runs the built `millrace` as a process, to test exit codes, signals, and the split between output and error.

import Foundation
import TestEnvironment

#if canImport(Glibc)
  import Glibc
#endif

/// A process of the command line.
struct CommandProcess {
  struct Result {
    var status: Int32
    var out: String
    var err: String
  }

  /// The folder of SwiftPM's executables, which is the test bundle's.
  static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("millrace")

  /// Runs a command until it exits.
  static func run(_ arguments: [String], input: [UInt8] = [], environment: [String: String] = [:]) async throws
    -> Result
  {
    let command = try CommandProcess(arguments, environment: environment)
    try command.input.fileHandleForWriting.write(contentsOf: Data(input))
    return try await command.finish()
  }

  let process = Process()
  let input = Pipe()
  private let out = Pipe()
  private let err = Pipe()

  /// - Parameter program: The name of another executable of the package.
  init(_ arguments: [String], environment: [String: String] = [:], program: String? = nil) throws {
    process.executableURL =
      program.map { Self.executable.deletingLastPathComponent().appendingPathComponent($0) } ?? Self.executable
    process.arguments = arguments
    // Removes the environment of the machine: a MILLRACE_ variable there must not affect a test.
    process.environment = ["PATH": "/usr/bin:/bin", "USER": "ann"].merging(environment) { $1 }
    process.currentDirectoryURL = URL(filePath: Project.root)
    process.standardInput = input
    process.standardOutput = out
    process.standardError = err
    try ProcessStart.alone { try process.run() }
  }

  /// The next line of standard output.
  func nextLine() async -> String { await Self.line(of: out) }

  /// The next line of standard error.
  func nextErrorLine() async -> String { await Self.line(of: err) }

  func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  /// Waits for the process to exit. The result contains the output that has not been read yet.
  func finish() async throws -> Result {
    try input.fileHandleForWriting.close()
    async let out = Self.rest(of: self.out)
    async let err = Self.rest(of: self.err)
    let (text, errors) = await (out, err)
    let process = self.process
    let status = await Self.blocking {
      process.waitUntilExit()
      return process.terminationStatus
    }
    return Result(status: status, out: text, err: errors)
  }

  /// Reads byte by byte, so that the rest of the pipe stays unread.
  private static func line(of pipe: Pipe) async -> String {
    let descriptor = pipe.fileHandleForReading.fileDescriptor
    return await blocking {
      var bytes: [UInt8] = []
      var byte: UInt8 = 0
      while read(descriptor, &byte, 1) == 1, byte != UInt8(ascii: "\n") { bytes.append(byte) }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  private static func rest(of pipe: Pipe) async -> String {
    let handle = pipe.fileHandleForReading
    return await blocking { String(decoding: handle.readDataToEndOfFile(), as: UTF8.self) }
  }

  /// Runs a blocking wait outside of the threads that tests share.
  private static func blocking<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: work()) }
    }
  }
}
