// What a worker tells the world: facts with a name, a content, and an id that is the same however often the handler runs.

internal import Crypto

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Something a worker says happened. Published to `appstore.events.<worker>` as a CloudEvent whose data is this value in
/// JSON.
public protocol WorkerEvent: Encodable, Sendable {
  /// The event's name, lower case with dots: `entitlement.revoked`. `ce_type` is `dev.millrace.<worker>.<name>`.
  static var eventName: String { get }
  /// What orders the event among others; nil: the notification's key.
  var eventKey: String? { get }
}

extension WorkerEvent {
  /// The notification's key.
  public var eventKey: String? { nil }
}

/// An event with its content already in bytes.
public struct EncodedEvent: Sendable, Hashable {
  /// The event's name.
  public var name: String
  /// What orders it; nil: the notification's key.
  public var key: String?
  /// The content, JSON.
  public var data: [UInt8]

  /// An event of this content.
  public init(name: String, key: String? = nil, data: [UInt8]) {
    self.name = name
    self.key = key
    self.data = data
  }

  /// Encodes an event: members sorted by name, dates in RFC 3339, so that equal values are equal bytes.
  /// - Throws: `EncodingError` for a value that JSON cannot hold.
  public init<Event: WorkerEvent>(_ event: Event) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    self.init(name: Event.eventName, key: event.eventKey, data: Array(try encoder.encode(event)))
  }
}

/// The identity of events: UUIDv5 of worker, notification, event name and ordinal.
enum EventIdentity {
  /// The namespace of Millrace's events; chosen once, never changed.
  private static let namespace: [UInt8] = [
    0x6d, 0x1f, 0x5a, 0x0e, 0x3c, 0x42, 0x4c, 0x8b, 0x9a, 0x77, 0x2e, 0x10, 0x58, 0xd4, 0xb3, 0x61,
  ]

  /// The same inputs give the same id, in every process and every version.
  /// - Parameter revision: what tells a corrected event from the one it supersedes; nil for the first.
  static func id(
    worker: String, notification: String, event: String, ordinal: Int, revision: String? = nil
  ) -> String {
    var hash = Insecure.SHA1()
    hash.update(data: namespace)
    let parts = [worker, notification, event, String(ordinal)] + (revision.map { [$0] } ?? [])
    for part in parts {
      hash.update(data: Array(part.utf8))
      hash.update(data: [0])
    }
    var bytes = Array(hash.finalize().prefix(16))
    // RFC 9562: version 5 and its variant.
    for (index, mask, bits) in [(6, 0x0f, 0x50), (8, 0x3f, 0x80)] as [(Int, UInt8, UInt8)] where index < bytes.count {
      bytes[index] = bytes[index] & mask | bits
    }
    let text = Hex.text(bytes)
    var parts8: [Substring] = []
    var rest = text[...]
    for length in [8, 4, 4, 4, 12] {
      parts8.append(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return parts8.joined(separator: "-")
  }
}
