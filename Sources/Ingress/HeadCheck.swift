// Validates the head of a request before its body is read: path, method, announced size, and whether the endpoint
// accepts version 1.

internal import AppStore
internal import HTTPTypes
internal import HummingbirdCore
internal import MillraceCore

/// Validates heads. The same check refuses a request early and decides whether to send `100 Continue`.
struct HeadCheck: Sendable {
  /// The body that a valid head announces.
  struct Announcement: Sendable, Hashable {
    var version: NotificationVersion
    /// The largest allowed size in bytes.
    var limit: Int
    /// The announced size in bytes, or the limit if the head announces none.
    var size: Int
  }

  let limits: IngressSettings.BodyLimits
  /// Whether any app has a shared secret. Without one, no version 1 body can be authenticated.
  let acceptsV1: Bool

  func check(_ head: HTTPRequest) throws(RefusedRequest) -> Announcement {
    do {
      return try announcement(head)
    } catch {
      // A client that expects `100 Continue` may or may not send its body after a refusal. Only closing the connection
      // makes clear where the next request begins (RFC 9110, section 10.1.1).
      throw head.expectsContinue ? error.closing : error
    }
  }

  /// Whether to send `100 Continue`: the client expects it (`Expect: 100-continue`) and the head is valid.
  ///
  /// HTTP/1.0, which does not have this expectation, cannot be distinguished here. Its clients have no reason to send
  /// it.
  func invites(_ head: HTTPRequest) -> Bool {
    guard head.expectsContinue else { return false }
    do {
      _ = try check(head)
      return true
    } catch {
      return false
    }
  }

  private func announcement(_ head: HTTPRequest) throws(RefusedRequest) -> Announcement {
    guard head.method != .connect else { throw .upgrade }
    guard let version = NotificationVersion(path: URI(head.path ?? "").path) else { throw .wrongPath }
    guard head.method == .post else { throw .wrongMethod }
    if version == .v1, !acceptsV1 { throw .noSharedSecret }
    let limit = version == .v1 ? limits.v1 : limits.v2
    let size = head.headerFields[.contentLength].flatMap { Int($0) } ?? limit
    guard size <= limit else { throw .tooLarge }
    return Announcement(version: version, limit: limit, size: size)
  }
}

extension HTTPRequest {
  /// Whether the client waits for `100 Continue` before it sends the body.
  var expectsContinue: Bool { headerFields[.expect]?.lowercased() == "100-continue" }
}
