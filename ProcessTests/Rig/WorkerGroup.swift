// The processes of a worker: started, killed, restarted and measured.

package actor WorkerGroup {
  /// A process that has ended.
  package struct Departure: Sendable, CustomStringConvertible {
    package let program: String
    package let end: Child.End
    package let log: String

    package var description: String { "\(program) left with \(end) after SIGTERM; \(log)" }
  }

  private struct Member {
    var process: Child
    /// The URL of the admin port; nil if nothing asks for it.
    var admin: String?
  }

  package nonisolated let worker: String
  package nonisolated let program: Program
  private let deployment: Deployment
  private let log: String
  private let environment: [String: String]
  private let hasAdminPort: Bool
  private var members: [Member] = []
  private var started = 0

  /// - Parameters:
  ///   - worker: The worker's name.
  ///   - log: The name of the logs, which a number follows; nil: the program's.
  ///   - hasAdminPort: Whether each process has an admin port of its own, for readiness and metrics.
  package init(
    _ worker: String, _ program: Program, of deployment: Deployment, log: String? = nil,
    environment: [String: String] = [:], hasAdminPort: Bool
  ) {
    (self.worker, self.program, self.deployment) = (worker, program, deployment)
    self.log = log ?? program.name
    (self.environment, self.hasAdminPort) = (environment, hasAdminPort)
  }

  package var processes: [Child] { members.map(\.process) }

  // MARK: - Start

  /// Starts processes until the given number is running.
  package func start(_ count: Int) throws {
    while members.count < count { members.append(try startOne()) }
  }

  private func startOne() throws -> Member {
    started += 1
    var environment = environment
    // Chosen as late as possible: another process may take it.
    let port = hasAdminPort ? try FreePorts.find(1).first : nil
    environment["MILLRACE_ADMIN_PORT"] = port.map { "\($0)" }
    let process = try deployment.start(program, environment, log: "\(log)-\(started)")
    return Member(process: process, admin: port.map { "http://127.0.0.1:\($0)" })
  }

  /// Waits until every process is ready and lanes run.
  /// - Parameter lanes: The number of lanes of these processes; nil: all lanes of the worker.
  package func waitUntilReady(lanes: Int? = nil) async throws {
    for member in members {
      guard let admin = member.admin else { throw RunError("\(program.name) has no admin port") }
      try await Web.waitUntilReady("\(admin)/readyz", of: member.process, before: deployment.rig.deadline)
    }
    try await deployment.wait(for: "\(lanes.map { "\($0) lanes" } ?? "every lane") of \(worker) to run") {
      try await sum("millrace_worker_lanes") >= Double(lanes ?? deployment.lanes)
    }
  }

  // MARK: - End

  /// Ends a process with a signal and does not start another one.
  @discardableResult
  package func end(_ index: Int, by signal: Child.Signal) async -> Child.End {
    await members.remove(at: index).process.end(by: signal)
  }

  /// Ends a process with a signal and starts another one in its place.
  @discardableResult
  package func replace(_ index: Int, by signal: Child.Signal) async throws -> Child.End {
    if signal == .terminate { try await waitUntilStarted(members[index].process) }
    let end = await members[index].process.end(by: signal)
    members[index] = try startOne()
    return end
  }

  /// Restarts processes that ended by themselves, like a supervisor.
  /// - Returns: The ended processes.
  package func restartEnded() throws -> [Departure] {
    var ended: [Departure] = []
    for (index, member) in members.enumerated() {
      guard let end = member.process.end else { continue }
      ended.append(Departure(program: program.name, end: end, log: member.process.log))
      members[index] = try startOne()
    }
    return ended
  }

  /// Sends SIGTERM to all processes and waits for their ends.
  /// - Returns: The processes that did not exit with status 0.
  package func leave() async throws -> [Departure] {
    let leaving = processes
    for process in leaving { try await waitUntilStarted(process) }
    members = []
    for process in leaving { process.send(.terminate) }
    var failed: [Departure] = []
    for process in leaving {
      let end = await process.wait()
      if end != .exit(0) { failed.append(Departure(program: program.name, end: end, log: process.log)) }
    }
    return failed
  }

  /// Waits until a process handles SIGTERM, which before ends it like any program.
  private func waitUntilStarted(_ process: Child) async throws {
    try await deployment.wait(for: "\(process.log) to start") {
      try process.end != nil || process.hasLogged("admin listening")
    }
  }

  package func killAll() async {
    let killed = processes
    members = []
    for process in killed { await process.end(by: .kill) }
  }

  // MARK: - Metrics

  /// The values of a metric, for each process and series.
  package func series(_ metric: String) async throws -> [(labels: Substring, value: Double)] {
    var series: [(labels: Substring, value: Double)] = []
    for member in members {
      if let end = member.process.end {
        throw RunError("\(program.name) ended with \(end); see \(member.process.log)")
      }
      guard let admin = member.admin else { throw RunError("\(program.name) has no admin port") }
      for line in try await Web.get("\(admin)/metrics").text.split(separator: "\n")
      where line.hasPrefix(metric + "{") || line.hasPrefix(metric + " ") {
        guard let value = line.split(separator: " ").last.flatMap({ Double($0) }) else { continue }
        series.append((line.dropFirst(metric.count), value))
      }
    }
    return series
  }

  /// The sum of a metric over all processes and series.
  package func sum(_ metric: String) async throws -> Double {
    try await series(metric).reduce(0) { $0 + $1.value }
  }
}
