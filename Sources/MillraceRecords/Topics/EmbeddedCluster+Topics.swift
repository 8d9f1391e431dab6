// The embedded cluster has no topic administration, so its process creates the topics before any client asks for them.

package import KafkaClient
package import MillraceCore

extension EmbeddedCluster {
  /// Creates every topic of a catalog with its lanes and one replica.
  /// - Throws: ``KafkaError`` if a topic already exists.
  package func create(_ catalog: TopicCatalog) throws(KafkaError) {
    for topic in catalog.topics { try createTopic(topic.topic, partitions: topic.lanes) }
  }

  /// Starts a cluster with every topic of a catalog if the settings ask for it; otherwise nil.
  /// - Throws: ``KafkaError`` if it cannot start.
  package static func configured(_ settings: KafkaSettings, _ catalog: TopicCatalog) throws -> EmbeddedCluster? {
    guard settings.isEmbedded else { return nil }
    let cluster = try EmbeddedCluster()
    try cluster.create(catalog)
    return cluster
  }
}
