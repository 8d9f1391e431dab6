// Kills, pauses and starts the nodes of a cluster that scripts/kafka runs.

import ScenarioRig

struct KafkaNodes: Sendable {
  /// The path of scripts/kafka.
  var script: String
  /// The directory of the cluster.
  var directory: String

  /// Kills a node with SIGKILL.
  func kill(_ node: Int) async throws { try await call(["kill", directory, "\(node)"]) }
  /// Pauses a node's process.
  func pause(_ node: Int) async throws { try await call(["pause", directory, "\(node)"]) }
  /// Resumes a paused node.
  func resume(_ node: Int) async throws { try await call(["resume", directory, "\(node)"]) }
  /// Starts a killed node and waits until it answers.
  func start(_ node: Int) async throws { try await call(["start", directory, "\(node)"]) }
  /// Waits until every replica is in sync.
  func waitUntilSettled() async throws { try await call(["settled", directory]) }

  /// Starts killed nodes together, because a minority of a quorum does not answer alone.
  func start(_ nodes: [Int]) async throws {
    try await withThrowingDiscardingTaskGroup { group in
      for node in nodes { group.addTask { try await start(node) } }
    }
  }

  /// The node that coordinates a consumer group.
  func coordinator(of group: String) async throws -> Int {
    let answer = try await call(["coordinator", directory, group])
    guard let node = Int(answer.filter { !$0.isWhitespace }) else {
      throw RunError("scripts/kafka coordinator printed \(answer)")
    }
    return node
  }

  /// The nodes, ordered by the number of these topics' partitions that they lead, highest first.
  func byLeadership(prefix: String) async throws -> [Int] {
    try await call(["leaders", directory, prefix])
      .split(separator: "\n")
      .compactMap { line -> (node: Int, count: Int)? in
        let words = line.split(separator: " ").compactMap { Int($0) }
        return words.count == 2 ? (words[0], words[1]) : nil
      }
      .sorted { ($1.count, $0.node) < ($0.count, $1.node) }
      .map(\.node)
  }

  @discardableResult
  private func call(_ arguments: [String]) async throws -> String {
    let result = try await CommandResult(
      of: script, arguments, name: "scripts/kafka",
      // Several may run at once.
      file: "\(directory)/script-\((arguments.prefix(1) + arguments.dropFirst(2)).joined(separator: "-"))")
    guard result.status == 0 else {
      throw RunError("scripts/kafka \(arguments.joined(separator: " ")) failed: \(result.notes)")
    }
    return result.output
  }
}
