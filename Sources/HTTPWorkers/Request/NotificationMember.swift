// The member `notification` of a request, as much of it as the worker's `payload` allows.

package import AppStore
internal import AppStoreSignature
package import MillraceCore
package import MillraceWorker

/// Builds the member `notification`.
package enum NotificationMember {
  /// Returns the family of a notification: the last part of the topic from which a worker first read it.
  /// - Parameter prefix: The deployment's prefix of topics.
  package static func family(ofTopic topic: String, prefix: String) -> String {
    let name = topic.dropFirst(prefix.count)
    let start = "appstore.notifications."
    return String(name.hasPrefix(start) ? name.dropFirst(start.count) : name)
  }

  /// Returns the member; nil for a record that is not a notification of Apple's.
  package static func of(
    _ notification: AppStoreNotification, family: String, payload level: HandlerSettings.Payload
  ) throws(JSONError) -> JSONObject? {
    var member: JSONObject = ["id": .string(notification.id)]
    let payload: JSONObject
    let (type, subtype): (String?, String?)
    switch notification.content {
    case .v2(let verified):
      member["version"] = 2
      payload = TokenFree.object(verified.payload.json)
      (type, subtype) = (verified.payload.notificationType?.rawValue, verified.payload.subtype?.rawValue)
    case .v1(let body):
      member["version"] = 1
      payload = level == .minimal ? [:] : try JSONObject(parsing: notification.bytes)
      (type, subtype) = (body.notification_type?.rawValue, nil)
    case .found, .request: return nil
    }
    member["type"] = type.map { .string($0) }
    member["subtype"] = subtype.map { .string($0) }
    member["family"] = .string(family)
    member["bundleId"] = notification.bundleId.map { .string($0) }
    member["environment"] = notification.environment.map { .string($0.rawValue) }
    member["signedDate"] = notification.signedDate.map { .string($0.rfc3339) }
    member["receivedAt"] = .string(notification.receivedAt.rfc3339)
    guard level != .minimal else { return member }
    member["payload"] = .object(payload)
    member["transaction"] = notification.transaction.map { .object(TokenFree.object($0.json)) }
    member["renewalInfo"] = notification.renewalInfo.map { .object(TokenFree.object($0.json)) }
    if level == .full, case .v2 = notification.content {
      member["signedPayload"] = .string(String(decoding: notification.bytes, as: UTF8.self))
    }
    return member
  }
}

/// Removes signed tokens from JSON.
package enum TokenFree {
  /// Returns an object without the members, at any depth, that contain a signed token.
  package static func object(_ object: JSONObject) -> JSONObject {
    JSONObject(
      object.members.compactMap { member in
        value(member.value).map { JSONObject.Member(key: member.key, value: $0) }
      })
  }

  private static func value(_ value: JSON) -> JSON? {
    switch value {
    case .string(let text): isToken(text) ? nil : value
    case .array(let elements): .array(elements.compactMap { self.value($0) })
    case .object(let object): .object(self.object(object))
    default: value
    }
  }

  /// Whether a text is a compact JWS. Its header is a JSON object, which always begins like this in base64url.
  package static func isToken(_ text: String) -> Bool {
    text.hasPrefix("eyJ") && text.utf8.count { $0 == UInt8(ascii: ".") } == 2
  }
}
