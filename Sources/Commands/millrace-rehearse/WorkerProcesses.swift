// The processes of the workers.

import Foundation
import Processes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A worker's program.
enum Program: String, Sendable {
  case extensions = "millrace-renewal-extensions"
  case refunds = "millrace-refunds"
  /// A release of refunds whose events differ.
  case changedRefunds = "millrace-rehearse-refunds"

  /// The worker's name.
  var worker: String { self == .extensions ? "renewal-extensions" : "refunds" }
}

actor WorkerProcesses {
  struct Member: Sendable {
    let program: Program
    let process: Child
    let admin: String
  }

  nonisolated let stage: RehearsalEnvironment
  private(set) var members: [Member] = []
  private var started = 0

  init(_ stage: RehearsalEnvironment) { self.stage = stage }

  /// Starts processes and waits until all processes of the program have their lanes.
  func start(_ program: Program, _ count: Int) async throws {
    for _ in 0..<count {
      started += 1
      let port = try FreePorts.find(1)[0]
      let process = try Child(
        stage.settings.program(program.rawValue), ["--config", stage.path],
        environment: stage.environment.merging(["MILLRACE_ADMIN_PORT": "\(port)"]) { $1 },
        log: "\(stage.directory)/\(program.rawValue)-\(started).log")
      members.append(Member(program: program, process: process, admin: "http://127.0.0.1:\(port)"))
    }
    try await waitUntilReady(program)
  }

  /// Waits until all lanes of a worker run.
  func waitUntilReady(_ program: Program) async throws {
    let own = members.filter { $0.program == program }
    for member in own {
      try await Web.waitUntilReady("\(member.admin)/readyz", of: member.process, before: stage.settings.deadline)
    }
    try await stage.wait(for: "every lane of \(program.worker) to run") {
      try await self.sum("millrace_worker_lanes", program) >= Double(self.stage.settings.lanes)
    }
  }

  /// Kills the first process of a program, like a machine failure.
  func kill(_ program: Program) async {
    guard let index = members.firstIndex(where: { $0.program == program }) else { return }
    let member = members.remove(at: index)
    member.process.send(SIGKILL)
    _ = await member.process.wait()
  }

  /// Sends SIGTERM to every process of a program.
  /// - Returns: The processes that did not exit normally.
  func leave(_ program: Program) async -> [String] {
    let leaving = members.filter { $0.program == program }
    members.removeAll { $0.program == program }
    for member in leaving { member.process.send(SIGTERM) }
    var faults: [String] = []
    for member in leaving {
      let end = await member.process.wait()
      if end != .exit(0) { faults.append("\(program.rawValue) left with \(end) after SIGTERM; \(member.process.log)") }
    }
    return faults
  }

  func killAll() async {
    for member in members {
      member.process.send(SIGKILL)
      _ = await member.process.wait()
    }
    members = []
  }

  /// The sum of a metric over all processes and series of a program.
  func sum(_ metric: String, _ program: Program, where label: String = "") async throws -> Double {
    var sum = 0.0
    for member in members where member.program == program {
      if let end = member.process.end {
        throw RunError("\(program.rawValue) ended with \(end); see \(member.process.log)")
      }
      for line in try await Web.get("\(member.admin)/metrics").text.split(separator: "\n")
      where line.hasPrefix(metric + "{") || line.hasPrefix(metric + " ") {
        guard label.isEmpty || line.contains(label), let value = line.split(separator: " ").last.flatMap({ Double($0) })
        else { continue }
        sum += value
      }
    }
    return sum
  }
}
