// Turns settings into the configuration of a Kafka client. Secrets are read here, not earlier.

package import KafkaClient
internal import Metrics
internal import MillraceTime

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

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
    if oauth.method != nil { merged["security.protocol"] = merged["security.protocol"] ?? "sasl_ssl" }
    var configuration = KafkaConfiguration(
      bootstrapServers: bootstrapServers ?? self.bootstrapServers, properties: merged, clientID: clientID)
    configuration.tokens = tokenSource
    return configuration
  }

  /// Fetches tokens as ``oauth`` says, and counts the fetches; nil if it has no method.
  private var tokenSource: KafkaTokenSource? {
    guard oauth.method != nil else { return nil }
    let fetcher = TokenFetcher(
      settings: oauth, environment: ProcessInfo.processInfo.environment, now: { MillraceClock.system.wallTime })
    return KafkaTokenSource(
      ended: { KafkaMetrics.tokenFetch($0, MetricsSystem.factory) }, fetch: { try await fetcher.fetch() })
  }
}
