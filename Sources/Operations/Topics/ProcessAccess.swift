// The rights of each process of a deployment: the table of rights with the names of a configuration. Pure.

package import MillraceCore
package import MillraceRecords
package import MillraceWorker

/// A worker of a deployment.
package struct DeployedWorker: Sendable, Hashable {
  /// The worker's name.
  package var name: String
  /// The process that runs it.
  package var process: String
  /// The names, in Kafka, of the topics of its families, or of the events that it reads; nil if only its code names
  /// them.
  package var inputs: [String]?

  /// Creates a worker that does not ship with Millrace. Its process has the worker's name.
  package init(foreign name: String) {
    self.name = name
    process = name
  }

  /// Creates a worker.
  package init(name: String, process: String, inputs: [String]) {
    self.name = name
    self.process = process
    self.inputs = inputs
  }

  /// Returns the workers of a type that have an entry in the configuration.
  /// - Throws: ``MillraceError`` if the settings of a worker are invalid.
  package static func of<Worker: NotificationWorker>(
    _ type: Worker.Type, process: String, in configuration: MillraceConfiguration
  ) throws -> [DeployedWorker] {
    try type.identities(in: configuration).filter { configuration.workers[$0.name] != nil }.map { identity in
      let policy = configuration.policy(of: identity.name, standard: identity.policy)
      let topics = WorkerTopics(type, as: identity, configuration, policy)
      return DeployedWorker(name: identity.name, process: process, inputs: topics.inputs)
    }
  }
}

/// The rights of one process in a deployment.
package struct ProcessAccess: Sendable, Hashable {
  /// Rights that are needed together.
  package struct Section: Sendable, Hashable {
    /// The circumstance in which the process needs the rights; nil if it always needs them.
    package var condition: String?
    /// The rights, sorted. None grants another one.
    package var entries: [ACLEntry]
  }

  /// The name of the process, such as `millrace-ingress`.
  package var process: String
  /// The rights, those that it always needs first.
  package var sections: [Section]
  /// Rights that depend on something other than the configuration, as text.
  package var unnamed: [String]
}

/// A deployment to whose names the table of rights is applied.
package struct AccessPlan: Sendable {
  private let workers: [DeployedWorker]
  private let catalog: TopicCatalog
  private let prefix: String
  private let grantsIdempotentWrite: Bool

  /// Creates a plan.
  ///
  /// - Parameters:
  ///   - workers: The workers with an entry in the configuration.
  ///   - catalog: The topics of the deployment.
  ///   - grantsIdempotentWrite: Whether brokers require `IdempotentWrite` of producers, as versions before 3.0 do.
  /// - Throws: ``OperationError`` if the prefix cannot begin the name of a topic.
  package init(
    workers: [DeployedWorker], catalog: TopicCatalog, prefix: String, grantsIdempotentWrite: Bool = false
  ) throws(OperationError) {
    guard prefix.utf8.allSatisfy({ ACLText.isNameByte($0) }) else {
      throw OperationError(
        .failed, "the prefix `\(prefix)` has characters that Kafka does not allow in names", at: "topics.prefix",
        remedy: "use letters, digits, dots, hyphens and underscores")
    }
    self.workers = workers
    self.catalog = catalog
    self.prefix = prefix
    self.grantsIdempotentWrite = grantsIdempotentWrite
  }

  /// The processes that the deployment runs permanently or as a job, in the order of the table.
  package var deployed: [String] { names(.program, .workers) }

  /// Returns the rights of processes.
  ///
  /// - Parameter names: The processes; empty: those that the deployment runs.
  /// - Throws: ``OperationError`` that names `--process` if there is no such process.
  package func processes(_ names: [String] = []) throws(OperationError) -> [ProcessAccess] {
    let known = self.names(.program, .workers, .command)
    for name in names where !known.contains(name) {
      let isWorker = ProcessRights.table.contains { $0.kind == .besides && $0.processes.contains(name) }
      throw OperationError(
        .usage, isWorker ? "no worker of \(name) is configured" : "there is no process `\(name)`", at: "--process",
        remedy: (isWorker ? "add its worker to `workers`, or choose from " : "choose from ")
          + known.joined(separator: ", "))
    }
    return known.filter { names.isEmpty ? deployed.contains($0) : names.contains($0) }.map { access(of: $0) }
  }

  /// The processes of these rows, each once, in the order of the table.
  private func names(_ kinds: ProcessRights.Kind...) -> [String] {
    var names: [String] = []
    for row in ProcessRights.table where kinds.contains(row.kind) {
      let found = row.kind == .workers ? workers.map(\.process) : row.processes
      for name in found where !names.contains(name) { names.append(name) }
    }
    return names
  }

  private func access(of process: String) -> ProcessAccess {
    let own = workers.filter { $0.process == process }
    var conditions: [String?] = [nil]
    var entries: [String?: Set<ACLEntry>] = [:]
    var unnamed: [String] = []
    for row in ProcessRights.table where row.kind == .workers ? !own.isEmpty : row.processes.contains(process) {
      for clause in row.clauses {
        if let text = clause.unnamed { unnamed.append(text.filter { $0 != "`" }) }
        let condition = clause.condition?.filter { $0 != "`" }
        if !conditions.contains(condition) { conditions.append(condition) }
        let patterns = row.kind == .workers ? own.flatMap { self.patterns(clause, $0) } : self.patterns(clause, nil)
        entries[condition, default: []].formUnion(
          patterns.flatMap { pattern in clause.operations.map { ACLEntry(pattern: pattern, operation: $0) } })
      }
    }
    for worker in own where worker.inputs == nil {
      unnamed += ["reads only the families of its code: remove the others", "writes the topics of its outputTopics"]
    }
    if grantsIdempotentWrite, entries.values.contains(where: { $0.contains { $0.operation == .write } }) {
      entries[nil, default: []].insert(ACLEntry(pattern: .cluster, operation: .idempotentWrite))
    }
    let always = (entries[nil] ?? []).withoutCovered()
    let sections = conditions.map { condition in
      ProcessAccess.Section(
        condition: condition,
        entries: condition == nil ? always : (entries[condition] ?? []).withoutCovered(by: always))
    }
    return ProcessAccess(
      process: process, sections: sections.filter { !$0.entries.isEmpty }, unnamed: unnamed)
  }

  /// The resources of a clause.
  /// - Parameter own: The worker whose row it is; nil: `<worker>` stands for every worker.
  private func patterns(_ clause: ProcessRights.Clause, _ own: DeployedWorker?) -> [ACLEntry.Pattern] {
    let names = clause.names.flatMap { name in
      name.contains("<worker>")
        ? (own.map { [$0] } ?? workers).map { name.replacing("<worker>", with: $0.name) } : [name]
    }
    var found = names.map { pattern($0, clause.resource) }
    if clause.coversFamilies, let own { found += families(of: own) }
    if clause.coversAll { found += everyTopic }
    return found
  }

  private func pattern(_ name: String, _ resource: ACLEntry.Resource = .topic) -> ACLEntry.Pattern {
    let isPrefix = name.hasSuffix("*")
    return ACLEntry.Pattern(
      resource: resource, name: prefix + (isPrefix ? String(name.dropLast()) : name), isPrefix: isPrefix)
  }

  private func topic(_ name: String) -> ACLEntry.Pattern {
    ACLEntry.Pattern(resource: .topic, name: name, isPrefix: false)
  }

  /// The topics that a worker reads besides its own: one pattern for all families, else their names.
  private func families(of worker: DeployedWorker) -> [ACLEntry.Pattern] {
    let every = pattern("appstore.notifications.*")
    guard let inputs = worker.inputs.map({ Set($0) }) else { return [every] }
    let families = Set(NotificationFamily.all.map { prefix + $0.topic })
    guard inputs.isSuperset(of: families) else { return inputs.map(topic) }
    return [every] + inputs.subtracting(families).map(topic)
  }

  /// Every topic of the deployment: two patterns, and the names that neither covers.
  private var everyTopic: [ACLEntry.Pattern] {
    let patterns = [pattern("appstore.*"), pattern("millrace.*")]
    let others = catalog.topics.map { topic($0.topic) }.filter { one in !patterns.contains { $0.covers(one) } }
    return patterns + others
  }
}
