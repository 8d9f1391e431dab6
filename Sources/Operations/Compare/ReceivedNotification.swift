// A notification in another receiver's log: the posted body, the token, or the ID alone.

internal import AppStore
internal import AppStoreSignature
internal import MillraceRecords

/// One line of another receiver's log.
package struct ReceivedNotification: Sendable, Hashable {
  /// The `notificationUUID`; for version 1, the SHA-256 of the body without its password.
  package var id: String
  /// The value of the record: the token, or the version 1 body without its password; nil if only the ID is known.
  package var bytes: [UInt8]?

  /// Parses a line.
  ///
  /// Accepts a posted body (`{"signedPayload": …}`, or a version 1 body with or without its password), a token, or a
  /// bare ID.
  /// - Throws: ``OperationError`` that says why the line is none of these.
  package init(line: some Collection<UInt8>) throws(OperationError) {
    var content = Array(line)
    while let last = content.last, last <= UInt8(ascii: " ") { content.removeLast() }
    content.removeFirst(content.prefix { $0 <= UInt8(ascii: " ") }.count)
    guard content.first == UInt8(ascii: "{") else {
      if content.contains(UInt8(ascii: ".")) { try self.init(token: content) } else { try self.init(bareID: content) }
      return
    }
    let envelope: ResponseBodyV1.Envelope
    do { envelope = try ResponseBodyV1.Envelope(parsing: content) } catch {
      throw Self.fault("invalid JSON: \(error)")
    }
    if case .string(let token)? = envelope.body.json["signedPayload"] {
      try self.init(token: Array(token.utf8))
    } else if envelope.body.notification_type != nil {
      self.init(id: NotificationRecord.digest(of: envelope.bytes), bytes: envelope.bytes)
    } else {
      throw Self.fault("the JSON object has neither signedPayload nor notification_type")
    }
  }

  init(id: String, bytes: [UInt8]?) {
    self.id = id
    self.bytes = bytes
  }

  private init(token: [UInt8]) throws(OperationError) {
    do {
      let payload = ResponseBodyV2DecodedPayload(json: try UnverifiedToken(parsing: token).payload)
      id = payload.notificationUUID.flatMap { $0.isEmpty ? nil : $0 } ?? NotificationRecord.digest(of: token)
      bytes = token
    } catch { throw Self.fault("invalid token: \(error.message)") }
  }

  private init(bareID: [UInt8]) throws(OperationError) {
    guard bareID.allSatisfy({ $0 > UInt8(ascii: " ") && $0 < 127 }), !bareID.isEmpty else {
      throw Self.fault("the line is neither a body, nor a token, nor an id")
    }
    // Apple writes UUIDs in lower case; some databases convert them to upper case.
    id = String(decoding: bareID, as: UTF8.self).lowercased()
    bytes = nil
  }

  private static func fault(_ what: String) -> OperationError {
    OperationError(.usage, what, remedy: "write one body, token or id per line")
  }
}
