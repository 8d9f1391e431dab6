// The names of librdkafka's properties, as the library that is linked knows them.

internal import CRDKafka

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The properties of the linked librdkafka.
package enum KafkaPropertyNames {
  /// Whether librdkafka has a property of this name, of a client or of its topics.
  package static func isKnown(_ name: String) -> Bool {
    // librdkafka does not tell a property without a value from an unknown one, nor does it document every property.
    if all.contains(name) { return true }
    let (client, topic) = (rd_kafka_conf_new(), rd_kafka_topic_conf_new())
    defer {
      rd_kafka_conf_destroy(client)
      rd_kafka_topic_conf_destroy(topic)
    }
    var size = 0
    return rd_kafka_conf_get(client, name, nil, &size) != RD_KAFKA_CONF_UNKNOWN
      || rd_kafka_topic_conf_get(topic, name, nil, &size) != RD_KAFKA_CONF_UNKNOWN
  }

  /// The documented names, to suggest one for a name that is unknown.
  package static let all: [String] = {
    var bytes: UnsafeMutablePointer<CChar>?
    var size = 0
    guard let stream = open_memstream(&bytes, &size) else { return [] }
    // It prints a table whose rows begin with the name.
    rd_kafka_conf_properties_show(stream)
    fclose(stream)
    defer { free(bytes) }
    guard let bytes else { return [] }
    let text = String(decoding: UnsafeRawBufferPointer(start: bytes, count: size), as: UTF8.self)
    let names = text.split(separator: "\n").compactMap { line -> String? in
      let parts = line.split(separator: "|", maxSplits: 1)
      guard parts.count == 2, let name = parts[0].split(separator: " ").first, parts[0].first?.isLowercase == true
      else { return nil }
      return String(name)
    }
    return Set(names).sorted()
  }()
}
