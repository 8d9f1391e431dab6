/// `console`: the web console for operators of a deployment.
package struct ConsoleSettings: Sendable, Hashable {
  /// How the console learns which user makes a request.
  package enum Proxy: String, Sendable, Hashable, CaseIterable {
    /// From an authenticating proxy in front of the console. Requests without the user's header are refused.
    case required
    /// Not at all: anyone who can reach the console may use it. It listens on a loopback address.
    case none
  }

  /// The address to listen on. Anyone who can reach it can claim to be any user, so only the proxy may reach it.
  package var host = "127.0.0.1"
  /// The TCP port; 0 lets the system choose.
  package var port = 8081
  /// How the console learns which user makes a request.
  package var proxy = Proxy.required
  /// The header field in which the proxy names the user.
  package var userHeader = "X-Forwarded-User"
  /// How many of the newest dead letters are kept in memory; older ones are counted.
  package var deadLetters = 20_000
  /// How far back a subscription's timeline is read.
  package var timelineHorizon = Duration.seconds(30 * 86_400)

  /// The defaults.
  package init() {}
}

extension MillraceConfiguration {
  static let consoleKeys: [Setting<MillraceConfiguration>] = [
    Setting(
      "console.host", \.console.host, .nonEmptyText,
      "The address to listen on. Anyone who can reach it can claim to be any user: allow only the proxy to reach it."),
    Setting("console.port", \.console.port, .integer(0...65_535), "TCP port; 0 lets the system choose."),
    Setting(
      "console.proxy", \.console.proxy, .choice,
      "`required`: an authenticating proxy names the user, and requests without a user are refused. `none`: there is "
        + "no proxy, and the console listens on a loopback address only."),
    Setting(
      "console.userHeader", \.console.userHeader, .nonEmptyText, "The header field in which the proxy names the user."),
    Setting(
      "console.deadLetters", \.console.deadLetters, .integer(100...1_000_000),
      "How many of the newest dead letters are kept in memory, about 600 bytes each. Older ones are only counted."),
    Setting(
      "console.timelineHorizon", \.console.timelineHorizon, .duration(.seconds(3_600) ... .seconds(366 * 86_400)),
      "How far back a subscription's timeline is read unless the reader asks for more."),
  ]

  /// Returns the rules between keys of `console` that the configuration violates.
  func brokenConsoleRelations(
    _ problem: (_ what: String, _ key: String, _ remedy: String) -> MillraceError.Problem
  ) -> [MillraceError.Problem] {
    var problems: [MillraceError.Problem] = []
    if console.proxy == .none, !console.isLoopback {
      problems.append(
        problem(
          "without a proxy, anyone who can reach \(console.host) could use the console", "console.host",
          "set it to 127.0.0.1, or set console.proxy to required"))
    }
    let isToken = console.userHeader.utf8.allSatisfy { byte in
      (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45 || byte == 95
    }
    if !isToken {
      problems.append(
        problem("not a header field name", "console.userHeader", "use letters, digits and hyphens"))
    }
    if console.port != 0, console.port == admin.port {
      problems.append(problem("console and admin have the same port", "console.port", "change one of them"))
    }
    return problems
  }
}

extension ConsoleSettings {
  /// Whether the console listens on a loopback address.
  package var isLoopback: Bool { ["127.0.0.1", "::1", "localhost"].contains(host) }
}
