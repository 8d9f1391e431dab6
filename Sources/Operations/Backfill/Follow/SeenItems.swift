// Failed deliveries stay in Apple's history for months. This set keeps each pass from publishing them again.

internal import AppStore
internal import AppStoreServerAPI
internal import Crypto

/// The items that this process has published. The set is bounded; an item that it forgot is published again, and the
/// workers' ledgers recognise the duplicate.
struct SeenItems: Sendable {
  private struct Key: Sendable, Hashable {
    var high: UInt64
    var low: UInt64
  }

  private let capacity: Int
  private var keys: Set<Key> = []
  private var order: [Key] = []
  private var oldest = 0

  init(capacity: Int = 200_000) { self.capacity = max(1, capacity) }

  var count: Int { keys.count }

  func contains(_ item: UnverifiedNotification) -> Bool { keys.contains(Self.key(item)) }

  mutating func insert(_ item: UnverifiedNotification) {
    let key = Self.key(item)
    guard keys.insert(key).inserted else { return }
    order.append(key)
    guard keys.count > capacity else { return }
    keys.remove(order[oldest])
    oldest += 1
    if oldest > capacity {
      order.removeFirst(oldest)
      oldest = 0
    }
  }

  /// The first 128 bits of a SHA-256 digest of the signed bytes.
  private static func key(_ item: UnverifiedNotification) -> Key {
    let bytes = item.jws.map { Array($0.utf8) } ?? item.json.serialized()
    return SHA256.hash(data: bytes).withUnsafeBytes { digest in
      Key(
        high: digest.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
        low: digest.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
  }
}
