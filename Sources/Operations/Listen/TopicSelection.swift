// Selects the topics of a listener: the named ones, else all notification topics of the catalog. Pure.

internal import AppStore
package import MillraceCore
package import MillraceRecords

/// The topics that `millrace listen` reads.
package struct TopicSelection: Sendable, Hashable {
  /// The common prefix of the notification topics; the family's name follows.
  package static let familyPrefix = "appstore.notifications."

  /// `--topic`: names in Kafka, including the deployment's prefix.
  package var topics: [String]
  /// `--family`: families of this deployment; `refunds` selects `appstore.notifications.refunds`.
  package var families: [String]

  /// Creates a selection; empty lists select all notification topics.
  package init(topics: [String] = [], families: [String] = []) {
    self.topics = topics
    self.families = families
  }

  /// Whether the selection depends on the topic files.
  package var needsCatalog: Bool { topics.isEmpty || !families.isEmpty }

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
    if topics.isEmpty, families.isEmpty {
      names.formUnion(catalog.notificationTopics.map(\.topic))
      if let quarantine = catalog.topic(named: QuarantineRecord.topic) { names.insert(quarantine.topic) }
    }
    return names.sorted()
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
