// A row of the table of rights. docs/threat-model.md prints the table, and `millrace topics acls` applies it to a
// configuration.

/// The rights of one or more processes in Kafka, with names as in a deployment without a prefix.
package struct ProcessRights: Sendable {
  /// A cell of the row.
  enum Column: Int, Sendable, CaseIterable {
    case reads, writes, settings, identities
  }

  /// Rights that are needed together.
  struct Clause: Sendable {
    /// The cell of the page in which the clause stands.
    var column: Column
    /// The circumstance in which the process needs the rights, as Markdown; nil if it always needs them.
    var condition: String?
    /// The names: `…*` stands for all that begin so, `<worker>` for a worker's name.
    var names: [String] = []
    /// The type of the resources.
    var resource = ACLEntry.Resource.topic
    /// The operations on these resources.
    var operations: [ACLEntry.Operation] = []
    /// The text of the page before the names, or instead of names that the page does not list.
    var words: String?
    /// Whether the clause is about the families of the worker.
    var coversFamilies = false
    /// Whether the clause is about every topic.
    var coversAll = false
  }

  /// The processes that a row is about.
  enum Kind: Sendable {
    /// A process that a deployment runs permanently, or as a job.
    case program
    /// Every worker.
    case workers
    /// A built-in worker: its rights in addition to those of every worker.
    case besides
    /// A command of operators.
    case command
    /// Processes that `millrace topics acls` does not print.
    case outside
  }

  /// The kind of processes.
  let kind: Kind
  /// The processes as the page names them, as Markdown.
  let title: String
  /// The names of the processes in principals.
  let processes: [String]
  /// The rights.
  let clauses: [Clause]

  init(_ kind: Kind, _ title: String, _ processes: [String], _ clauses: [Clause]) {
    self.kind = kind
    self.title = title
    self.processes = processes
    self.clauses = clauses
  }
}

extension ProcessRights.Clause {
  /// Topics that the process reads.
  static func reads(_ names: String..., when condition: String? = nil) -> Self {
    Self(column: .reads, condition: condition, names: names, operations: [.read])
  }

  /// The topics of the worker's families, and others that it reads.
  static func readsFamilies(and names: String...) -> Self {
    Self(column: .reads, names: names, operations: [.read], words: "its families", coversFamilies: true)
  }

  /// Topics that the process writes.
  static func writes(_ names: String..., when condition: String? = nil) -> Self {
    Self(column: .writes, condition: condition, names: names, operations: [.write])
  }

  /// Topics whose settings the process reads.
  static func settings(_ names: String...) -> Self {
    Self(column: .settings, names: names, operations: [.describeConfigs])
  }

  /// The topics of the worker's families, and others, whose settings the process reads.
  static func settingsOfFamilies(and names: String...) -> Self {
    Self(
      column: .settings, names: names, operations: [.describeConfigs], words: "its families", coversFamilies: true)
  }

  /// An operation on every topic.
  static func everyTopic(
    _ words: String, _ column: ProcessRights.Column, _ operations: ACLEntry.Operation..., when condition: String? = nil
  ) -> Self {
    Self(column: column, condition: condition, operations: operations, words: words, coversAll: true)
  }

  /// The group that the process joins.
  static func member(of group: String, when condition: String? = nil) -> Self {
    Self(
      column: .identities, condition: condition, names: [group], resource: .group, operations: [.read], words: "group")
  }

  /// A group that the process describes without joining it.
  static func describes(group: String, when condition: String? = nil) -> Self {
    Self(
      column: .identities, condition: condition, names: [group], resource: .group, operations: [.describe],
      words: "describes the \(group.contains("<worker>") ? "groups" : "group")")
  }

  /// The transactional ids that begin with `prefix`.
  static func transactionalIDs(_ prefix: String, when condition: String? = nil) -> Self {
    Self(
      column: .identities, condition: condition, names: [prefix + "*"], resource: .transactionalID,
      operations: [.write], words: "transactional ids that begin with")
  }

  /// Rights that depend on the arguments of a command.
  static func unnamed(_ column: ProcessRights.Column, _ words: String, when condition: String? = nil) -> Self {
    Self(column: column, condition: condition, words: words)
  }

  /// The rights that the table cannot name, as text; nil if it names them all.
  var unnamed: String? {
    guard names.isEmpty, !coversFamilies, !coversAll, let words, column != .identities else { return nil }
    return (condition.map { "\($0), " } ?? "") + "\(column == .writes ? "writes" : "reads") \(words)"
  }
}
