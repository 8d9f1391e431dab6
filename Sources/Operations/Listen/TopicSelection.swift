// Which topics a listener reads: those that were named, else everything the catalog says notifications go to. Pure.

public import Millrace

/// What `millrace listen` is asked to read.
public struct TopicSelection: Sendable, Hashable {
  /// What every notification topic's name begins with; the rest is its family.
  public static let familyPrefix = "appstore.notifications."

  /// `--topic`: names as Kafka has them, prefix included.
  public var topics: [String]
  /// `--family`: `refunds` for `appstore.notifications.refunds`, of this deployment.
  public var families: [String]

  /// A selection; empty lists select everything.
  public init(topics: [String] = [], families: [String] = []) {
    self.topics = topics
    self.families = families
  }

  /// Whether the topic files have to be read to know what is selected.
  public var needsCatalog: Bool { topics.isEmpty || !families.isEmpty }

  /// The names in Kafka, each once, sorted.
  ///
  /// - Parameter catalog: nil where ``needsCatalog`` is false.
  /// - Throws: ``OperationError`` that names a family that no topic file declares.
  public func names(in catalog: TopicCatalog?) throws(OperationError) -> [String] {
    guard let catalog, needsCatalog else { return Set(topics).sorted() }
    var names = Set(topics)
    for family in families {
      guard let topic = catalog.topic(named: Self.familyPrefix + family) else {
        let known = Self.families(of: catalog).joined(separator: ", ")
        throw OperationError(.usage, "there is no family \(family)", at: "--family", remedy: "choose one of \(known)")
      }
      names.insert(topic.topic)
    }
    if topics.isEmpty, families.isEmpty {
      names.formUnion(catalog.notificationTopics.map(\.topic))
      if let quarantine = catalog.topic(named: QuarantineRecord.topic) { names.insert(quarantine.topic) }
    }
    return names.sorted()
  }

  /// The families that a catalog declares, sorted.
  public static func families(of catalog: TopicCatalog) -> [String] {
    catalog.topics.map(\.name).filter { $0.hasPrefix(familyPrefix) }.map { String($0.dropFirst(familyPrefix.count)) }
      .sorted()
  }
}
