// Finds missing replicas in the current state of a cluster; the durability check compares its settings. No I/O.

internal import KafkaClient

/// The missing replicas of the declared topics.
package struct ReplicaHealth: Sendable, Hashable {
  /// A problem with replicas or brokers.
  package struct Problem: Sendable, Hashable, CustomStringConvertible {
    /// The problem, in one clause.
    package var what: String
    /// The action for the operator.
    package var remedy: String

    /// `what: remedy`.
    package var description: String { "\(what): \(remedy)" }
  }

  /// The problems, the worst first; empty if every replica is in sync.
  package var problems: [Problem]

  /// Finds the problems of a cluster.
  ///
  /// - Parameters:
  ///   - declared: The topics that the files declare.
  ///   - actual: The topics of the cluster; undeclared topics are ignored.
  ///   - absentBrokers: The ids of brokers that have replicas and do not answer.
  package init(declared: [TopicDefinition], actual: [TopicState], absentBrokers: [Int]) {
    let definitions = Dictionary(declared.map { ($0.topic, $0) }, uniquingKeysWith: { first, _ in first })
    var count = 0
    var (leaderless, short, behind): ([String], [String], [String]) = ([], [], [])
    for state in actual.sorted(by: { $0.topic < $1.topic }) {
      guard let definition = definitions[state.topic] else { continue }
      let least =
        state.settings?["min.insync.replicas"].flatMap(Int.init) ?? definition.minimumInsyncReplicas
      count += state.replicas.count
      for (number, partition) in state.replicas.enumerated() {
        let name = "\(state.topic)-\(number)"
        if !partition.hasLeader {
          leaderless.append(name)
        } else if partition.inSync < min(least, partition.replicas) {
          short.append(name)
        } else if partition.inSync < partition.replicas {
          behind.append(name)
        }
      }
    }
    let brokers = "\(absentBrokers.count == 1 ? "broker" : "brokers") \(Self.list(absentBrokers))"
    let remedy =
      absentBrokers.isEmpty
      ? "check the brokers' logs and disks, and wait until the replicas have caught up"
      : "start \(brokers), and wait until the replicas have caught up"
    func problem(_ names: [String], _ what: String) -> Problem? {
      guard let first = names.first else { return nil }
      let which = names.count == 1 ? first : "\(first) and \(names.count - 1) more"
      return Problem(what: "\(names.count) of \(count) partitions \(what) (\(which))", remedy: remedy)
    }
    problems = [
      problem(leaderless, "have no leader and can be neither read nor written"),
      problem(short, "have fewer in-sync replicas than min.insync.replicas and accept no records"),
      problem(behind, "have replicas that are not in sync"),
    ].compactMap(\.self)
    if problems.isEmpty, !absentBrokers.isEmpty {
      problems = [
        Problem(what: "\(brokers) \(absentBrokers.count == 1 ? "does" : "do") not answer", remedy: remedy)
      ]
    }
  }

  /// `1`, `1 and 2`, `1, 2 and 3`.
  static func list(_ brokers: [Int]) -> String {
    guard let last = brokers.last, brokers.count > 1 else { return brokers.map(String.init).joined() }
    return brokers.dropLast().map(String.init).joined(separator: ", ") + " and \(last)"
  }
}
