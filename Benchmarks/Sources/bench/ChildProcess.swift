// Starts and stops a process for a benchmark, and measures it through /proc.
import Foundation

/// A process and its cost.
final class ChildProcess {
  private let process = Process()

  var pid: Int32 { process.processIdentifier }

  init(_ executable: String, _ arguments: [String], environment: [String: String] = [:], log: String? = nil) throws {
    process.executableURL = URL(fileURLWithPath: executable)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    var output = FileHandle.nullDevice
    if let log {
      guard FileManager.default.createFile(atPath: log, contents: nil), let handle = FileHandle(forWritingAtPath: log)
      else { throw BenchError("cannot write \(log)") }
      output = handle
    }
    process.standardOutput = output
    process.standardError = output
    try process.run()
  }

  var isRunning: Bool { process.isRunning }

  /// The CPU time so far in seconds, all threads (`proc_pid_stat(5)`).
  var cpuSeconds: Double { cpuSeconds(of: pid) }

  /// The CPU time of the process and of the processes that it started, without their own children.
  var cpuSecondsOfTree: Double {
    let children = contents("task/\(pid)/children").split(separator: " ").compactMap { Int32($0) }
    return children.reduce(cpuSeconds) { $0 + cpuSeconds(of: $1) }
  }

  private func cpuSeconds(of pid: Int32) -> Double {
    // The name, in brackets, may contain anything, so fields are counted after it.
    let fields = (contents("stat", of: pid).split(separator: ")").last ?? "").split(separator: " ")
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return .nan }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// The peak resident memory in bytes (`proc_pid_status(5)`, VmHWM).
  var peakMemory: Double {
    for line in contents("status").split(separator: "\n") where line.hasPrefix("VmHWM:") {
      return (line.split(separator: " ").dropLast().last.flatMap { Double($0) } ?? .nan) * 1_024
    }
    return .nan
  }

  private func contents(_ name: String, of process: Int32? = nil) -> String {
    let path = "/proc/\(process ?? pid)/\(name)"
    return FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// Terminates the process and waits for it.
  func stop() {
    guard process.isRunning else { return }
    process.terminate()
    process.waitUntilExit()
  }

  /// Runs a program to its end and returns its output.
  static func output(
    of executable: String, _ arguments: [String], environment: [String: String] = [:]
  ) throws -> String {
    let process = Process()
    let pipe = Pipe()
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [executable] + arguments
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw BenchError("\(executable) ended with status \(process.terminationStatus)")
    }
    return String(decoding: data, as: UTF8.self)
  }
}
