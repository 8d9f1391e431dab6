// Kafka's partitioner, with the same result as Java's and librdkafka's. A reader that looks for one key reads one
// partition of each topic, and the in-memory log uses the same partitions as a cluster.

/// The hash that `org.apache.kafka.common.utils.Utils.murmur2` computes.
package enum Murmur2 {
  /// Kafka's seed and multiplier.
  private static let seed: UInt32 = 0x9747_b28c
  private static let multiplier: UInt32 = 0x5bd1_e995

  package static func hash(_ bytes: [UInt8]) -> UInt32 {
    var hash = seed ^ UInt32(truncatingIfNeeded: bytes.count)
    var rest = bytes[...]
    while rest.count >= 4 {
      var word = littleEndian(rest.prefix(4)) &* multiplier
      word ^= word >> 24
      hash = (hash &* multiplier) ^ (word &* multiplier)
      rest = rest.dropFirst(4)
    }
    if !rest.isEmpty { hash = (hash ^ littleEndian(rest)) &* multiplier }
    hash = (hash ^ (hash >> 13)) &* multiplier
    return hash ^ (hash >> 15)
  }

  /// Returns the partition of a key: `murmur2` of Java's default partitioner.
  /// - Parameter count: The number of partitions, at least 1.
  package static func partition(of key: [UInt8], among count: Int) -> Int32 {
    Int32(hash(key) & 0x7fff_ffff) % Int32(clamping: max(1, count))
  }

  private static func littleEndian(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
