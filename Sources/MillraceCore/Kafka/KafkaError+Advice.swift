package import KafkaClient

extension KafkaError {
  /// The action for the operator, in one clause.
  package var advice: String {
    if code == .invalidConfiguration { return "check kafka.properties" }
    if code == .unknownTopicOrPartition { return "create it with millrace topics apply" }
    if code == .invalidTimestamp {
      return "compare this machine's clock with the brokers': the timestamp of a record must be close to their time "
        + "(message.timestamp.before.max.ms and message.timestamp.after.max.ms of the topic)"
    }
    // A cause that needs a person comes first: it explains the others.
    let kinds = problems.map(\.kind)
    let credentials =
      "check the credentials (sasl.* in kafka.properties and kafka.propertyFiles, or kafka.oauth), and whether the "
      + "cluster knows this user or client"
    if kinds.contains(.oldSCRAM) {
      return
        "with Kafka 4.0 or later, use the image or a system with librdkafka 2.6.1 or later, such as Debian 13 "
        + "(docs/clusters.md); with older brokers, \(credentials)"
    }
    if kinds.contains(.authentication) { return credentials }
    if kinds.contains(.token) { return "check kafka.oauth, and that its server or file has a token" }
    if kinds.contains(.tls) {
      return "check security.protocol and ssl.* in kafka.properties, and the certificates of both sides"
    }
    if kinds.contains(.securityProtocol) {
      return "check security.protocol in kafka.properties: the listener expects another protocol, or is not Kafka"
    }
    if kinds.contains(.name) { return "check the names in kafka.bootstrapServers, and this machine's DNS" }
    if code == .fenced || code == .invalidProducerEpoch {
      return "another program has taken over the same work: let it finish, then run this command again"
    }
    if isRetriable || code == .timedOut { return "check kafka.bootstrapServers and that the brokers run" }
    return "look up the code in Kafka's documentation, and check this user's permissions"
  }
}
