// All topics of a deployment, read from their files and checked against each other.

internal import Clocks

/// The topics that the files in one directory declare.
public struct TopicCatalog: Sendable, Hashable {
  /// By name.
  public let topics: [TopicDefinition]
  /// Which notification goes to which of them.
  public let router: NotificationRouter

  /// A worker whose topics a deployment has.
  public struct Worker: Sendable, Hashable {
    /// Its name.
    public var name: String
    /// The delays of its retry tiers.
    public var retryDelays: [Duration]

    /// A worker.
    public init(name: String, retryDelays: [Duration] = WorkerPolicy().retryDelays) {
      self.name = name
      self.retryDelays = retryDelays
    }
  }

  /// Reads every `*.yaml` of `directory`, and those of its folder `workers` once for each worker.
  ///
  /// - Parameters:
  ///   - prefix: Put before every topic's name in Kafka.
  ///   - lanes: Partitions of the topics whose files state no number.
  ///   - workers: Whose topics there are besides those that all share.
  /// - Throws: ``MillraceError`` with every problem in every file: unknown keys, missing ones, a promise whose settings
  ///   break it, a notification type in two files, no topic or two for unrecognised types.
  public static func load(
    directory: String, prefix: String, lanes: Int, workers: [Worker] = []
  ) throws(MillraceError) -> TopicCatalog {
    let base = directory.hasSuffix("/") ? String(directory.dropLast()) : directory
    var files = try texts(in: base)
    guard !files.isEmpty else {
      throw MillraceError(
        .topics, "no *.yaml file in it", at: directory, remedy: "set topics.directory to the directory of topic files")
    }
    if !workers.isEmpty {
      let templates = try texts(in: "\(base)/workers")
      for worker in workers {
        for template in templates {
          let text = template.text.replacing("{worker}", with: worker.name)
          guard text.contains("{delay}") else {
            files.append((template.file, text))
            continue
          }
          files += worker.retryDelays.map { (template.file, text.replacing("{delay}", with: DurationText.text($0))) }
        }
      }
    }
    return try TopicCatalog(files: files, prefix: prefix, lanes: lanes)
  }

  /// Reads the directory that `settings` names; otherwise like ``load(directory:prefix:lanes:workers:)``.
  public static func load(_ settings: TopicSettings, workers: [Worker] = []) throws(MillraceError) -> TopicCatalog {
    try load(directory: settings.directory, prefix: settings.prefix, lanes: settings.lanes, workers: workers)
  }

  /// The topics of a whole deployment: those that all share, and those of every worker of `workers` and of every receiver
  /// of `forward` in its configuration.
  public static func load(_ configuration: MillraceConfiguration) throws(MillraceError) -> TopicCatalog {
    let workers = configuration.workers.compactMap { settings in
      settings.name.map { Worker(name: $0, retryDelays: WorkerPolicy().applying(settings).retryDelays) }
    }
    let forward = configuration.forward.compactMap { $0.name.map { Worker(name: ForwardSettings.workerName($0)) } }
    return try load(
      configuration.topics,
      workers: workers + forward.filter { own in !workers.contains { $0.name == own.name } })
  }

  private static func texts(in directory: String) throws(MillraceError) -> [(file: String, text: String)] {
    let names: [String]
    do {
      names = try Files.list(directory, area: .topics).filter { $0.hasSuffix(".yaml") }
    } catch {
      throw error.under(key: "topics.directory")
    }
    var files: [(file: String, text: String)] = []
    for name in names {
      files.append(("\(directory)/\(name)", try Files.readText("\(directory)/\(name)", area: .topics)))
    }
    return files
  }

  /// The catalog that these files declare.
  init(files: [(file: String, text: String)], prefix: String, lanes: Int) throws(MillraceError) {
    var problems: [MillraceError.Problem] = []
    var declared: [(file: String, topic: TopicDefinition)] = []
    for (file, text) in files {
      do {
        let value = try YAMLValue(parsing: text, file: file, area: .topics)
        var content = TopicFile()
        let report = TopicFile.table.read(value, into: &content, place: file)
        let found = report.problems.isEmpty ? content.missing(in: file) : report.problems
        problems += found
        guard found.isEmpty, let topic = content.definition(prefix: prefix, lanes: lanes) else { continue }
        problems += topic.brokenPromises(in: file)
        if let twin = declared.first(where: { $0.topic.name == topic.name }) {
          problems.append(.init("the topic \(topic.name) stands in \(twin.file) too", at: file, remedy: "rename one"))
        }
        declared.append((file, topic))
      } catch {
        problems += error.problems
      }
    }
    problems += NotificationRouter.conflicts(in: declared)
    guard problems.isEmpty else { throw MillraceError(.topics, problems) }
    try self.init(declared.map(\.topic))
  }

  /// A catalog of these topics; for tests.
  ///
  /// - Throws: ``MillraceError`` when they do not make a router.
  public init(_ topics: [TopicDefinition]) throws(MillraceError) {
    self.topics = topics.sorted { $0.name < $1.name }
    self.router = try NotificationRouter(topics)
  }

  /// The topic that code calls `name` (the name without prefix); `nil` when no file declares it.
  public func topic(named name: String) -> TopicDefinition? {
    topics.first { $0.name == name }
  }

  /// The topics that take notifications, by name.
  public var notificationTopics: [TopicDefinition] { topics.filter { !$0.notifications.isEmpty } }
}

extension TopicFile {
  /// The keys that a file must have and this one has not.
  func missing(in file: String) -> [MillraceError.Problem] {
    let required: [(String, Bool)] = [
      ("name", name == nil), ("description", description == nil), ("keyed", keyed == nil),
      ("replication", replication == nil), ("promise", promise == nil),
    ]
    return required.filter(\.1).map {
      MillraceError.Problem("the key `\($0.0)` is missing", at: file, remedy: "add it; see topics/schemas")
    }
  }

  func definition(prefix: String, lanes standard: Int) -> TopicDefinition? {
    guard let name, let description, let keyed, let replication, let promise else { return nil }
    return TopicDefinition(
      name: name, topic: prefix + name, description: description, keyed: keyed, lanes: lanes ?? standard,
      replication: replication, promise: promise, settings: settings, notifications: notifications)
  }
}

extension TopicDefinition {
  /// What in this declaration contradicts its own `promise: true`.
  func brokenPromises(in file: String) -> [MillraceError.Problem] {
    guard promise else { return [] }
    var problems: [MillraceError.Problem] = []
    if minimumInsyncReplicas < 2 {
      problems.append(
        .init(
          "a promise kept on one replica", at: file, remedy: "set min.insync.replicas to 2, or promise to false"))
    }
    if replication <= minimumInsyncReplicas {
      problems.append(
        .init(
          "replication \(replication) with min.insync.replicas \(minimumInsyncReplicas) stops at the first broker lost",
          at: file, remedy: "set replication above it, 3 for 2"))
    }
    if settings["unclean.leader.election.enable"] != "false" {
      problems.append(
        .init(
          "a replica that lags may become leader and drop acknowledged records", at: file,
          remedy: "set unclean.leader.election.enable to false"))
    }
    return problems
  }
}
