// Topics on the embedded cluster, which has no administration: they are made in its own process before any client asks.

public import Kafka

extension EmbeddedCluster {
  /// Creates every topic of a catalog, each with its lanes and one replica.
  /// - Throws: ``KafkaError`` for a topic that exists already.
  public func create(_ catalog: TopicCatalog) throws(KafkaError) {
    for topic in catalog.topics { try createTopic(topic.topic, partitions: topic.lanes) }
  }
}
