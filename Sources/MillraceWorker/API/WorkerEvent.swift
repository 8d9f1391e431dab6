// Events that a worker publishes. An event has the same id each time its handler runs.

internal import MillraceCore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// An event that a worker publishes to `appstore.events.<worker>`: a CloudEvent whose data is this value in JSON.
public protocol WorkerEvent: Encodable, Sendable {
  /// The event's name, lower case with dots, for instance `entitlement.revoked`. `ce_type` is
  /// `dev.millrace.<worker>.<name>`.
  static var eventName: String { get }
  /// The ordering key of the event. Nil means the notification's key.
  var eventKey: String? { get }
}

extension WorkerEvent {
  /// The default: the notification's key.
  public var eventKey: String? { nil }
}

/// An event whose content is already encoded.
public struct EncodedEvent: Sendable, Hashable {
  /// The event's name.
  public var name: String
  /// The ordering key. Nil means the notification's key.
  public var key: String?
  /// The content as JSON.
  public var data: [UInt8]

  /// Creates an event with encoded content.
  public init(name: String, key: String? = nil, data: [UInt8]) {
    self.name = name
    self.key = key
    self.data = data
  }

  /// Encodes an event with members sorted by name and dates in RFC 3339, so that equal values have equal bytes.
  /// - Throws: `EncodingError` for a value that JSON cannot represent.
  public init<Event: WorkerEvent>(_ event: Event) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    self.init(name: Event.eventName, key: event.eventKey, data: Array(try encoder.encode(event)))
  }
}

/// Computes event ids: UUIDv5 of worker, notification, event name and ordinal.
enum EventIdentity {
  /// Returns the event id. The same inputs give the same id in every process and every version.
  /// - Parameter revision: Distinguishes a corrected event from the one it supersedes; nil for the first.
  static func id(
    worker: String, notification: String, event: String, ordinal: Int, revision: String? = nil
  ) -> String {
    NameBasedUUID.text(of: [worker, notification, event, String(ordinal)] + (revision.map { [$0] } ?? []))
  }
}
