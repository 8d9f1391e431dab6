// Selects the topics of a listener: the named ones, else all notification topics of the catalog. Pure.

internal import AppStore
package import MillraceCore
package import MillraceRecords
internal import MillraceWorker

/// The topics that `millrace listen` reads.
package struct TopicSelection: Sendable, Hashable {
  /// The common prefix of the notification topics; the family's name follows.
  package static let familyPrefix = "appstore.notifications."

  /// `--topic`: names in Kafka, including the deployment's prefix.
  package var topics: [String]
  /// `--family`: families of this deployment; `refunds` selects `appstore.notifications.refunds`.
  package var families: [String]
  /// `--worker`: the events, delayed records, replays and dead letters of these workers.
  package var workers: [String]
  /// `--all`: every topic whose records people can read.
  package var isEverything: Bool

  /// Creates a selection; empty lists select all notification topics.
  package init(
    topics: [String] = [], families: [String] = [], workers: [String] = [], isEverything: Bool = false
  ) {
    (self.topics, self.families, self.workers, self.isEverything) = (topics, families, workers, isEverything)
  }

  /// Whether the selection depends on the topic files.
  package var needsCatalog: Bool { topics.isEmpty || !families.isEmpty || !workers.isEmpty || isEverything }

  /// The selected names in Kafka, sorted and without duplicates.
  ///
  /// - Parameter catalog: The deployment's topics; may be nil if ``needsCatalog`` is false.
  /// - Throws: ``OperationError`` that names a family that no topic file declares.
  package func names(in catalog: TopicCatalog?) throws(OperationError) -> [String] {
    guard let catalog, needsCatalog else { return Set(topics).sorted() }
    var names = Set(topics)
    for family in families {
      guard let topic = catalog.topic(named: Self.familyPrefix + family) else {
        throw OperationError(
          .usage, "unknown family \(family)", at: "--family",
          remedy: NearestName.remedy(for: family, among: Self.families(of: catalog)))
      }
      names.insert(topic.topic)
    }
    for worker in workers {
      names.formUnion(catalog.topics.filter { Self.isReadable($0.name) && $0.name.belongs(to: worker) }.map(\.topic))
    }
    if isEverything { names.formUnion(catalog.topics.filter { Self.isReadable($0.name) }.map(\.topic)) }
    if topics.isEmpty, families.isEmpty, workers.isEmpty {
      names.formUnion(catalog.notificationTopics.map(\.topic))
      if let quarantine = catalog.topic(named: QuarantineRecord.topic) { names.insert(quarantine.topic) }
    }
    return names.sorted()
  }

  /// Whether the records of a topic say something to people. Ledgers and messages between processes do not.
  private static func isReadable(_ name: String) -> Bool {
    !name.hasSuffix(".ledger") && ![WorkerTopics.controlTopic, ProcessReport.ingressTopic].contains(name)
  }

  /// The topics of families, in Kafka.
  /// - Throws: ``OperationError`` that names a family that no topic file declares; `MillraceError`.
  package static func topics(of families: [String], in configuration: MillraceConfiguration) throws -> [String] {
    guard !families.isEmpty else { return [] }
    return try TopicSelection(families: families).names(in: try TopicCatalog.load(configuration))
  }

  /// The families that a catalog declares, sorted.
  package static func families(of catalog: TopicCatalog) -> [String] {
    catalog.topics.map(\.name).filter { $0.hasPrefix(familyPrefix) }.map { String($0.dropFirst(familyPrefix.count)) }
      .sorted()
  }
}

extension String {
  /// Whether a topic of this name belongs to a worker: its events, or a topic that only it writes to.
  fileprivate func belongs(to worker: String) -> Bool {
    self == PublishedEvent.topicPrefix + worker || WorkerTopics.owner(of: self) == worker
  }
}
