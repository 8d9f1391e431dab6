// Finds the other programs of Millrace, and runs a worker's program for a dry run.

import AppStore
import Foundation
import MillraceCore
import MillraceRecords
import MillraceWorker
import Operations

enum InstalledProgram {
  /// Returns the path of a program in the folder of this one, or in PATH; nil if it is not installed.
  static func path(of name: String) -> String? {
    // Without /proc only PATH is searched.
    let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let folders =
      [own.map { URL(filePath: $0).deletingLastPathComponent().path }].compactMap(\.self)
      + (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Runs the commands of a replay in the worker's program, without effects.
  /// - Throws: ``OperationError`` if the program is missing or fails.
  static func dryRun(
    _ commands: [OperationCommand], of worker: String, by given: String?, showing shown: Int,
    _ configuration: MillraceConfiguration
  ) throws -> DryRunText {
    let name = ShippedWorkers.program(of: worker, in: configuration) ?? "millrace-\(worker)"
    guard let program = given ?? path(of: name) else {
      throw OperationError(
        .usage, "the program \(name) is neither in the folder of millrace nor in PATH", at: "--program",
        remedy: "name the program of the worker \(worker)")
    }
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = ["--dry-run", "\(shown)"] + (configuration.file.map { ["--config", $0] } ?? [])
    var environment = ProcessInfo.processInfo.environment
    // Its warnings are about dead letters and retries that do not exist.
    environment["MILLRACE_LOGGING_LEVEL"] = environment["MILLRACE_LOGGING_LEVEL"] ?? "error"
    process.environment = environment
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    do { try process.run() } catch {
      throw OperationError(
        .usage, "\(program) cannot be started: \(error.localizedDescription)", at: "--program",
        remedy: "name the program of the worker \(worker)")
    }
    for command in commands {
      try input.fileHandleForWriting.write(
        contentsOf: OperationsRecord.command(command).json.serialized() + [UInt8(ascii: "\n")])
    }
    try input.fileHandleForWriting.close()
    let text = [UInt8](output.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw OperationError(
        .failed, "\(program) ended with status \(process.terminationStatus)", at: "--dry-run",
        remedy: "correct what it printed above")
    }
    return try DryRunText(text)
  }
}
