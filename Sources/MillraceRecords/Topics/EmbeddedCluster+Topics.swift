// The embedded cluster has no topic administration, so its process creates the topics before any client asks for them.

package import KafkaClient

extension EmbeddedCluster {
  /// Creates every topic of a catalog with its lanes and one replica.
  /// - Throws: ``KafkaError`` if a topic already exists.
  package func create(_ catalog: TopicCatalog) throws(KafkaError) {
    for topic in catalog.topics { try createTopic(topic.topic, partitions: topic.lanes) }
  }
}
