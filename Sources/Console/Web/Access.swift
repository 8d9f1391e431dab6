// Decides who may do what, from the headers of a request. Values without I/O.

internal import Crypto
internal import HTTPTypes
internal import MillraceCore

/// The user who sent a request.
struct Visitor: Sendable, Hashable {
  /// The name from the proxy; without a proxy, the user who started the process.
  var name: String
  var mayAct: Bool
}

/// Why a request is refused. The texts reveal nothing that helps an attacker.
enum Denial: Error, Sendable, Hashable {
  /// The request does not name exactly one user in the header.
  case noUser(header: String)
  /// The request is for a host other than this machine, as in DNS rebinding.
  case foreignHost
  /// The console does not allow actions.
  case readOnly
  /// The form is not from this console, or it is too old.
  case foreignForm
  /// A page of another site loads this without a navigation.
  case foreignLoad
  /// The limit of concurrent requests of this kind is reached.
  case busy
  case notFound
  case wrongMethod
  case tooLarge
  /// The request is invalid, with the reason.
  case malformed(String)
}

/// The source of a browser's request.
enum RequestOrigin: Sendable, Hashable {
  /// A page of this console.
  case console
  /// The user typed the address or opened a bookmark.
  case user
  /// The user followed a link on another site.
  case foreignLink
  /// A page of another site loads it without a navigation: as an image, a frame or a script.
  case foreignLoad
  /// The request does not say. It comes from a script, or from a browser over plain HTTP.
  case unknown
}

/// Decides whether to answer a request.
struct AccessPolicy: Sendable {
  let settings: ConsoleSettings
  let allowsActions: Bool
  /// The user who started the process, for a console without a proxy.
  let localUser: String
  let tokens: FormTokens

  static let longestName = 200

  func visitor(_ request: HTTPRequest) throws(Denial) -> Visitor {
    switch settings.proxy {
    case .none:
      // Another host name that resolves to this machine could let a foreign page read this one (DNS rebinding).
      guard Self.isLoopback(authority: request.authority ?? "") else { throw .foreignHost }
      return Visitor(name: localUser, mayAct: allowsActions)
    case .required:
      let names = HTTPField.Name(settings.userHeader).map { request.headerFields[values: $0] } ?? []
      // With two values, one may come from the client.
      guard names.count == 1, let name = names.first, !name.isEmpty, name.utf8.count <= Self.longestName,
        name.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 })
      else { throw .noUser(header: settings.userHeader) }
      return Visitor(name: name, mayAct: allowsActions)
    }
  }

  /// Throws unless the user may act and the request comes from a page of this console. Checked before a body is read.
  func check(_ request: HTTPRequest, of visitor: Visitor) throws(Denial) {
    guard visitor.mayAct else { throw .readOnly }
    guard isSameOrigin(request) else { throw .foreignForm }
  }

  /// Throws unless the user may act and the form comes from a page of this console that the user opened.
  func check(_ request: HTTPRequest, token: String, of visitor: Visitor) throws(Denial) {
    try check(request, of: visitor)
    guard tokens.isValid(token, for: visitor.name) else { throw .foreignForm }
  }

  /// Returns the source of a request from the headers that browsers set (W3C, Fetch Metadata Request Headers).
  func origin(of request: HTTPRequest) -> RequestOrigin {
    if isSameOrigin(request) { return .console }
    let headers = request.headerFields
    switch headers[.init("Sec-Fetch-Site")] {
    case "none": return .user
    case nil: return headers[.init("Origin")] == nil && headers[.init("Referer")] == nil ? .unknown : .foreignLink
    default:
      let isLink = headers[.init("Sec-Fetch-Mode")] == "navigate" && headers[.init("Sec-Fetch-Dest")] == "document"
      return isLink ? .foreignLink : .foreignLoad
    }
  }

  /// Whether the request comes from this console, by headers that scripts in a browser cannot forge.
  func isSameOrigin(_ request: HTTPRequest) -> Bool {
    let headers = request.headerFields
    if let site = headers[.init("Sec-Fetch-Site")] { return site == "same-origin" }
    guard let origin = headers[.init("Origin")] ?? headers[.init("Referer")],
      let authority = origin.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first
    else { return false }
    // The library exposes the `Host` field as the authority.
    return [request.authority, headers[.init("X-Forwarded-Host")]].contains { $0.map { $0 == authority } ?? false }
  }

  private static func isLoopback(authority: String) -> Bool {
    ["127.0.0.1", "localhost", "[::1]"].contains { authority == $0 || authority.hasPrefix($0 + ":") }
  }
}

extension HTTPFields {
  fileprivate subscript(name: HTTPField.Name?) -> String? { name.flatMap { self[$0] } }
}

/// Tokens that authenticate forms. A token is valid for one user and for 12 to 24 hours, until the process ends.
struct FormTokens: Sendable {
  private let key: SymmetricKey
  private let window: @Sendable () -> Int64

  static let windowSeconds: Int64 = 12 * 3_600

  /// - Parameter seconds: Returns the time in seconds since 1970.
  init(key: SymmetricKey = SymmetricKey(size: .bits256), seconds: @escaping @Sendable () -> Int64) {
    self.key = key
    window = { seconds() / Self.windowSeconds }
  }

  func token(for user: String) -> String { token(for: user, window()) }

  func isValid(_ token: String, for user: String) -> Bool {
    let now = window()
    let parts = token.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let issued = Int64(parts[0]), issued == now || issued == now - 1,
      let code = Hex.bytes(parts[1].utf8)
    else { return false }
    // Compares in constant time.
    return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Self.message(user, issued), using: key)
  }

  private func token(for user: String, _ window: Int64) -> String {
    let code = HMAC<SHA256>.authenticationCode(for: Self.message(user, window), using: key)
    return "\(window)-\(Hex.text(code))"
  }

  private static func message(_ user: String, _ window: Int64) -> [UInt8] { Array("console\n\(window)\n\(user)".utf8) }
}
