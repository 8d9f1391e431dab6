// Finds the other programs of Millrace, and runs a worker's program for a dry run.

import AppStore
import Foundation
import MillraceCore
import MillraceRecords
import MillraceWorker
import Operations

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

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

  /// Runs the commands of a replay in the worker's program, without effects. Cancellation ends the program.
  /// - Throws: ``OperationError`` if the program is missing or fails; `CancellationError`.
  static func dryRun(
    _ commands: [OperationCommand], of worker: String, by given: String?, showing shown: Int,
    _ configuration: MillraceConfiguration
  ) async throws -> DryRunText {
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
    let lines = commands.flatMap { OperationsRecord.command($0).json.serialized() + [UInt8(ascii: "\n")] }
    let text = await answer(
      of: process, to: lines, from: output.fileHandleForReading, through: input.fileHandleForWriting)
    try Task.checkCancellation()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      let end = process.terminationReason == .exit ? "status" : "signal"
      throw OperationError(
        .failed, "\(program) ended with \(end) \(process.terminationStatus)", at: "--dry-run",
        remedy: "correct what it printed above")
    }
    do {
      return try DryRunText(text)
    } catch {
      throw OperationError(
        .failed, "\(program) printed something else than a report: \(error)", at: "--dry-run",
        remedy: "name the program of the worker \(worker) with --program; it must print nothing else to standard output"
      )
    }
  }

  /// Writes the input of a process, and returns its output when it has ended. Cancellation ends the process.
  private static func answer(
    of process: Process, to input: [UInt8], from output: FileHandle, through inputHandle: FileHandle
  ) async -> [UInt8] {
    let id = process.processIdentifier
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          do {
            try inputHandle.write(contentsOf: input)
            try inputHandle.close()
          } catch {
            // The program has ended early. Its status, which the caller reports, says more than the error of the pipe.
          }
          let text = [UInt8](output.readDataToEndOfFile())
          process.waitUntilExit()
          continuation.resume(returning: text)
        }
      }
    } onCancel: {
      // It inherits that this process ignores SIGTERM, and has nothing to finish.
      kill(id, SIGKILL)
    }
  }
}
