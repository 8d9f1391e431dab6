// The part of the configuration that only the operator's console reads.

/// `console`: the page that shows a deployment to its operators.
public struct ConsoleSettings: Sendable, Hashable {
  /// Who says which user asks.
  public enum Proxy: String, Sendable, Hashable, CaseIterable {
    /// An authenticating proxy in front of the console: a request without the user's header is refused.
    case required
    /// Nobody: the console is for whoever can reach it, on the loopback interface.
    case none
  }

  /// The address to listen on. Whoever reaches it can name any user, so that it is the proxy's alone.
  public var host = "127.0.0.1"
  /// The TCP port; 0 lets the system choose.
  public var port = 8081
  /// Who says which user asks.
  public var proxy = Proxy.required
  /// The header field in which the proxy names the user.
  public var userHeader = "X-Forwarded-User"
  /// Dead letters kept in memory, the newest; older ones are counted.
  public var deadLetters = 20_000
  /// How far back the story of a subscription is read.
  public var storyHorizon = Duration.seconds(30 * 86_400)

  /// The defaults.
  public init() {}
}

extension MillraceConfiguration {
  static let consoleKeys: [Setting<MillraceConfiguration>] = [
    Setting(
      "console.host", \.console.host, .nonEmptyText,
      "Address that `millrace-console` listens on. Whoever reaches it can name any user: let only the proxy."),
    Setting("console.port", \.console.port, .integer(0...65_535), "TCP port; 0 lets the system choose."),
    Setting(
      "console.proxy", \.console.proxy, .choice,
      "`required`: an authenticating proxy names the user, and a request without is refused; `none`: there is none, "
        + "and the console listens on a loopback address only."),
    Setting(
      "console.userHeader", \.console.userHeader, .nonEmptyText, "Header field in which the proxy names the user."),
    Setting(
      "console.deadLetters", \.console.deadLetters, .integer(100...1_000_000),
      "Dead letters kept in memory, the newest; older ones are only counted. About 600 bytes each."),
    Setting(
      "console.storyHorizon", \.console.storyHorizon, .duration(.seconds(3_600) ... .seconds(366 * 86_400)),
      "How far back the story of a subscription is read unless the reader asks for more."),
  ]

  /// The relations of `console` that do not hold.
  func brokenConsoleRelations(
    _ problem: (_ what: String, _ key: String, _ remedy: String) -> MillraceError.Problem
  ) -> [MillraceError.Problem] {
    var problems: [MillraceError.Problem] = []
    if console.proxy == .none, !console.isLoopback {
      problems.append(
        problem(
          "without a proxy everybody who reaches \(console.host) would be let in", "console.host",
          "set it to 127.0.0.1, or set console.proxy to required"))
    }
    let isToken = console.userHeader.utf8.allSatisfy { byte in
      (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45 || byte == 95
    }
    if !isToken {
      problems.append(
        problem("no name of a header field", "console.userHeader", "use letters, digits and hyphens"))
    }
    if console.port != 0, console.port == admin.port {
      problems.append(problem("console and admin share a port", "console.port", "give one of them another"))
    }
    return problems
  }
}

extension ConsoleSettings {
  /// Whether only this machine reaches the console.
  public var isLoopback: Bool { ["127.0.0.1", "::1", "localhost"].contains(host) }
}
