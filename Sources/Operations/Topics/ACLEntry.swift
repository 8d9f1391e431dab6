// One right in Kafka's access control: an operation on a topic, a group, the cluster, or a transactional id.

/// An access control entry that allows an operation.
///
/// See https://kafka.apache.org/documentation/#security_authz.
package struct ACLEntry: Sendable, Hashable {
  /// The type of the resource.
  package enum Resource: Int, Sendable, Hashable, CaseIterable {
    case topic, group, transactionalID, cluster
  }

  /// An operation, in the spelling of Kafka's tools.
  package enum Operation: String, Sendable, Hashable, CaseIterable {
    case read = "Read"
    case write = "Write"
    case create = "Create"
    case alter = "Alter"
    case describe = "Describe"
    case describeConfigs = "DescribeConfigs"
    case alterConfigs = "AlterConfigs"
    case idempotentWrite = "IdempotentWrite"

    /// The operations that a broker allows with this one.
    var implied: Set<Operation> {
      switch self {
      case .read, .write, .alter: [.describe]
      case .alterConfigs: [.describeConfigs]
      case .create, .describe, .describeConfigs, .idempotentWrite: []
      }
    }
  }

  /// A resource, or all resources whose names begin alike.
  package struct Pattern: Sendable, Hashable {
    /// The type of the resource.
    package var resource: Resource
    /// The resource's name in Kafka, or the start of the names.
    package var name: String
    /// Whether the name is the start of names.
    package var isPrefix: Bool

    /// The only cluster.
    static let cluster = Pattern(resource: .cluster, name: "kafka-cluster", isPrefix: false)

    /// Whether every resource of the other pattern is one of this pattern.
    func covers(_ other: Pattern) -> Bool {
      guard resource == other.resource else { return false }
      return isPrefix ? other.name.hasPrefix(name) : self == other
    }
  }

  /// The resources.
  package var pattern: Pattern
  /// The operation.
  package var operation: Operation

  /// Whether this entry also grants the other one.
  func covers(_ other: ACLEntry) -> Bool {
    pattern.covers(other.pattern)
      && (operation == other.operation || operation.implied.contains(other.operation))
  }
}

extension ACLEntry: Comparable {
  /// Sorts by resource, name and operation.
  package static func < (one: ACLEntry, other: ACLEntry) -> Bool { one.order < other.order }

  private var order: (Int, String, Int, Int) {
    let place = Operation.allCases.firstIndex(of: operation) ?? 0
    return (pattern.resource.rawValue, pattern.name, pattern.isPrefix ? 1 : 0, place)
  }
}

extension Set<ACLEntry> {
  /// The entries that no other entry of the set, and no entry of `granted`, already grants; sorted.
  func withoutCovered(by granted: [ACLEntry] = []) -> [ACLEntry] {
    filter { entry in
      !granted.contains { $0.covers(entry) } && !contains { $0 != entry && $0.covers(entry) }
    }.sorted()
  }
}
