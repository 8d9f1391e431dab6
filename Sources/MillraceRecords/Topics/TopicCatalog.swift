internal import MillraceTime
public import MillraceCore

/// The topics that the files in a directory declare, checked against each other.
public struct TopicCatalog: Sendable, Hashable {
  /// The topics, sorted by name.
  public let topics: [TopicDefinition]
  /// The topic of each notification type.
  public let router: NotificationRouter

  /// A worker of the deployment.
  public struct Worker: Sendable, Hashable {
    /// The worker's name.
    public var name: String
    /// The worker's retry delays.
    public var retryDelays: [Duration]

    /// Creates a worker.
    public init(name: String, retryDelays: [Duration] = WorkerPolicy().retryDelays) {
      self.name = name
      self.retryDelays = retryDelays
    }
  }

  /// Reads every `*.yaml` in `directory`, and every `*.yaml` in its folder `workers` once per worker.
  ///
  /// - Parameters:
  ///   - directory: The directory; nil for the files of this version.
  ///   - prefix: A prefix for every topic's name in Kafka.
  ///   - lanes: The partition count of topics whose files set none.
  ///   - workers: The workers that have topics of their own.
  /// - Throws: ``MillraceError`` with every problem in every file: unknown or missing keys, settings that contradict
  ///   `promise: true`, a notification type in two files, no topic or two topics for unrecognized types.
  public static func load(
    directory: String?, prefix: String, lanes: Int, workers: [Worker] = []
  ) throws(MillraceError) -> TopicCatalog {
    var (files, templates) = (BuiltInTopics.shared, BuiltInTopics.workers)
    if let directory {
      let base = directory.hasSuffix("/") ? String(directory.dropLast()) : directory
      files = try texts(in: base)
      guard !files.isEmpty else {
        throw MillraceError(
          .topics, "the directory contains no *.yaml file", at: directory,
          remedy: "set topics.directory to the directory of the topic files, or unset it")
      }
      templates = try workers.isEmpty ? [] : texts(in: "\(base)/workers")
    }
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
    return try TopicCatalog(files: files, prefix: prefix, lanes: lanes)
  }

  /// Reads the directory that `settings` names; otherwise like ``load(directory:prefix:lanes:workers:)``.
  package static func load(_ settings: TopicSettings, workers: [Worker] = []) throws(MillraceError) -> TopicCatalog {
    try load(directory: settings.directory, prefix: settings.prefix, lanes: settings.lanes, workers: workers)
  }

  /// Reads the topics of a deployment: the shared topics, and the topics of every worker in `workers`.
  package static func load(_ configuration: MillraceConfiguration) throws(MillraceError) -> TopicCatalog {
    try load(
      configuration.topics,
      workers: configuration.workers.sorted { $0.key < $1.key }.map { name, entry in
        Worker(name: name, retryDelays: WorkerPolicy().applying(entry).retryDelays)
      })
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

  /// Creates the catalog that the files declare.
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
          problems.append(.init("the topic \(topic.name) is also in \(twin.file)", at: file, remedy: "rename one"))
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

  /// Creates a catalog of these topics, for tests.
  ///
  /// - Throws: ``MillraceError`` if their notification types conflict.
  package init(_ topics: [TopicDefinition]) throws(MillraceError) {
    self.topics = topics.sorted { $0.name < $1.name }
    self.router = try NotificationRouter(topics)
  }

  /// Returns the topic with a name, without the prefix; `nil` if no file declares it.
  package func topic(named name: String) -> TopicDefinition? {
    topics.first { $0.name == name }
  }

  /// The topics that receive notifications, sorted by name.
  package var notificationTopics: [TopicDefinition] { topics.filter { !$0.notifications.isEmpty } }
}

extension TopicFile {
  /// Returns a problem for each required key that is missing.
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
  /// Returns the settings that contradict `promise: true`.
  func brokenPromises(in file: String) -> [MillraceError.Problem] {
    guard promise else { return [] }
    var problems: [MillraceError.Problem] = []
    if minimumInsyncReplicas < 2 {
      problems.append(
        .init(
          "promise is true, but one replica can acknowledge records", at: file,
          remedy: "set min.insync.replicas to 2, or promise to false"))
    }
    if replication <= minimumInsyncReplicas {
      problems.append(
        .init(
          "with replication \(replication) and min.insync.replicas \(minimumInsyncReplicas), losing one broker stops "
            + "writes",
          at: file, remedy: "set replication above min.insync.replicas, such as 3 and 2"))
    }
    if settings["unclean.leader.election.enable"] != "false" {
      problems.append(
        .init(
          "a replica that is not in sync may become leader and drop acknowledged records", at: file,
          remedy: "set unclean.leader.election.enable to false"))
    }
    return problems
  }
}
