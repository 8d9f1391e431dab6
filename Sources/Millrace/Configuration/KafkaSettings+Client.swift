// From settings to what a Kafka client is made of: secrets are read here and nowhere earlier.

public import Kafka

extension KafkaSettings {
  /// What a client of this cluster is made of; the values of ``propertyFiles`` are read now.
  ///
  /// - Parameters:
  ///   - clientID: The name that brokers log, such as `millrace-ingress`.
  ///   - bootstrapServers: Instead of ``bootstrapServers``: the address of an embedded cluster that was started.
  /// - Throws: ``MillraceError`` that names the file that cannot be read.
  public func client(
    clientID: String, bootstrapServers: String? = nil
  ) throws(MillraceError) -> KafkaConfiguration {
    var merged = properties
    // Queue depth and broker state are metrics of every process; librdkafka tells them only when asked to.
    merged["statistics.interval.ms"] = merged["statistics.interval.ms"] ?? "15000"
    for (name, path) in propertyFiles {
      let secret: SecretFile
      do { secret = try SecretFile(path) } catch { throw error.under(key: "kafka.propertyFiles.\(name)") }
      merged[name] = secret.withBytes { String(decoding: $0, as: UTF8.self) }
    }
    return KafkaConfiguration(
      bootstrapServers: bootstrapServers ?? self.bootstrapServers, properties: merged, clientID: clientID)
  }
}
