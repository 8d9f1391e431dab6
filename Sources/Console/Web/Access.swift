// Who may do what. Values: headers in, a verdict out.

internal import Crypto
internal import HTTPTypes
internal import Millrace

/// Who asks.
struct Visitor: Sendable, Hashable {
  /// As the proxy names them; without a proxy, whoever started the process.
  var name: String
  /// Whether they may act.
  var mayAct: Bool
}

/// Why a request is refused. Says nothing that helps whoever should not be here.
enum Denial: Error, Sendable, Hashable {
  /// No proxy named a user.
  case noUser(header: String)
  /// Another name than this machine's own was asked for: a page elsewhere may be behind it.
  case foreignHost
  /// Actions are switched off.
  case readOnly
  /// The form is not from this console, or too old.
  case foreignForm
  case notFound
  case wrongMethod
  case tooLarge
  /// The request makes no sense; says what.
  case malformed(String)
}

/// Decides about requests.
struct AccessPolicy: Sendable {
  let settings: ConsoleSettings
  let allowsActions: Bool
  /// The name of whoever started the process, for a console without a proxy.
  let localUser: String
  let tokens: FormTokens

  static let longestName = 200

  /// Who asks.
  func visitor(_ request: HTTPRequest) throws(Denial) -> Visitor {
    switch settings.proxy {
    case .none:
      // A name that leads here and is not ours is how a foreign page would read this one (DNS rebinding).
      guard Self.isLoopback(authority: request.authority ?? "") else { throw .foreignHost }
      return Visitor(name: localUser, mayAct: allowsActions)
    case .required:
      let names = HTTPField.Name(settings.userHeader).map { request.headerFields[values: $0] } ?? []
      // Two of them: one may be the client's own.
      guard names.count == 1, let name = names.first, !name.isEmpty, name.utf8.count <= Self.longestName,
        name.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 })
      else { throw .noUser(header: settings.userHeader) }
      return Visitor(name: name, mayAct: allowsActions)
    }
  }

  /// Whether a form that wants something done comes from a page of this console.
  func check(_ request: HTTPRequest, token: String, of visitor: Visitor) throws(Denial) {
    guard visitor.mayAct else { throw .readOnly }
    guard isSameOrigin(request), tokens.isValid(token, for: visitor.name) else { throw .foreignForm }
  }

  /// By what browsers say themselves; scripts cannot forge these fields.
  func isSameOrigin(_ request: HTTPRequest) -> Bool {
    let headers = request.headerFields
    if let site = headers[.init("Sec-Fetch-Site")] { return site == "same-origin" }
    guard let origin = headers[.init("Origin")] ?? headers[.init("Referer")],
      let authority = origin.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first
    else { return false }
    // The field `Host` is the request's authority.
    return [request.authority, headers[.init("X-Forwarded-Host")]].contains { $0.map { $0 == authority } ?? false }
  }

  private static func isLoopback(authority: String) -> Bool {
    ["127.0.0.1", "localhost", "[::1]"].contains { authority == $0 || authority.hasPrefix($0 + ":") }
  }
}

extension HTTPFields {
  fileprivate subscript(name: HTTPField.Name?) -> String? { name.flatMap { self[$0] } }
}

/// Marks forms as ours: for one user, for half a day to a day, until the process ends.
struct FormTokens: Sendable {
  private let key: SymmetricKey
  private let window: @Sendable () -> Int64

  static let windowSeconds: Int64 = 12 * 3_600

  /// - Parameter seconds: Seconds since 1970.
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
    // In constant time.
    return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Self.message(user, issued), using: key)
  }

  private func token(for user: String, _ window: Int64) -> String {
    let code = HMAC<SHA256>.authenticationCode(for: Self.message(user, window), using: key)
    return "\(window)-\(Hex.text(code))"
  }

  private static func message(_ user: String, _ window: Int64) -> [UInt8] { Array("console\n\(window)\n\(user)".utf8) }
}
