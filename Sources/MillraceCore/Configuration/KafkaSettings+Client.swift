// Turns settings into the configuration of a Kafka client. Secrets are read here, not earlier.

package import KafkaClient

extension KafkaSettings {
  /// Returns the configuration of a client of this cluster. Reads the values of ``propertyFiles``.
  ///
  /// - Parameters:
  ///   - clientID: The client id that brokers log, such as `millrace-ingress`.
  ///   - bootstrapServers: The address of a running embedded cluster; overrides ``bootstrapServers``.
  /// - Throws: ``MillraceError`` that names the unreadable file.
  public func client(
    clientID: String, bootstrapServers: String? = nil
  ) throws(MillraceError) -> KafkaConfiguration {
    var merged = properties
    // Every process exports queue depth and broker state; librdkafka reports them only if this is set.
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
