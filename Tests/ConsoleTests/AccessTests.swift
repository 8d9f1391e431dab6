import Crypto
import HTTPTypes
import MillraceCore
import Synchronization
import Testing

@testable import Console

@Suite struct AccessTests {
  private func policy(
    proxy: ConsoleSettings.Proxy = .required, actions: Bool = true, seconds: @escaping @Sendable () -> Int64 = { 0 }
  ) -> AccessPolicy {
    var settings = ConsoleSettings()
    settings.proxy = proxy
    return AccessPolicy(
      settings: settings, allowsActions: actions, localUser: "me", tokens: FormTokens(seconds: seconds))
  }

  private func headers(_ fields: (String, String)...) -> HTTPRequest { headers(fields) }

  /// A request with its `Host` as authority, as the server passes it.
  private func headers(_ fields: [(String, String)]) -> HTTPRequest {
    var headers = HTTPFields()
    for (name, value) in fields where name != "Host" {
      if let name = HTTPField.Name(name) { headers.append(HTTPField(name: name, value: value)) }
    }
    return HTTPRequest(
      method: .get, scheme: "http", authority: fields.first { $0.0 == "Host" }?.1, path: "/", headerFields: headers)
  }

  private func refusal(_ work: () throws(Denial) -> Void) -> Denial? {
    do throws(Denial) {
      try work()
      return nil
    } catch { return error }
  }

  // MARK: - Who asks

  @Test func `behind a proxy, the header names the user`() throws {
    #expect(try policy().visitor(headers(("X-Forwarded-User", "ada"))) == Visitor(name: "ada", mayAct: true))
    #expect(try policy(actions: false).visitor(headers(("X-Forwarded-User", "ada"))).mayAct == false)
  }

  @Test func `a missing user, two users, and an empty or overlong name are refused`() {
    let none = Denial.noUser(header: "X-Forwarded-User")
    #expect(refusal { () throws(Denial) in _ = try policy().visitor(headers()) } == none)
    for fields in [
      [("X-Forwarded-User", "ada"), ("X-Forwarded-User", "eve")], [("X-Forwarded-User", "")],
      [("X-Forwarded-User", String(repeating: "a", count: 201))],
    ] {
      #expect(refusal { () throws(Denial) in _ = try policy().visitor(headers(fields)) } == none, "\(fields)")
    }
  }

  @Test func `without a proxy only the names of the local machine are accepted`() throws {
    let policy = policy(proxy: .none)
    for host in ["localhost:8088", "127.0.0.1", "[::1]:8088"] {
      #expect(try policy.visitor(headers(("Host", host))).name == "me")
    }
    for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", ""] {
      #expect(
        refusal { () throws(Denial) in _ = try policy.visitor(headers(("Host", host))) } == .foreignHost, "\(host)")
    }
  }

  // MARK: - Forms

  @Test func `a form needs a valid token and the console's origin`() {
    let policy = policy()
    let visitor = Visitor(name: "ada", mayAct: true)
    let token = policy.tokens.token(for: "ada")
    let cases: [(HTTPRequest, String, Denial?)] = [
      (headers(("Sec-Fetch-Site", "same-origin")), token, nil),
      (headers(("Origin", "https://ops.example"), ("Host", "ops.example")), token, nil),
      (
        headers(("Origin", "https://ops.example"), ("Host", "10.0.0.1"), ("X-Forwarded-Host", "ops.example")), token,
        nil
      ),
      (headers(("Referer", "https://ops.example/dead-letters"), ("Host", "ops.example")), token, nil),
      (
        headers(("Sec-Fetch-Site", "cross-site"), ("Origin", "https://ops.example"), ("Host", "ops.example")), token,
        .foreignForm
      ),
      (headers(("Sec-Fetch-Site", "same-site")), token, .foreignForm),
      (headers(("Origin", "https://evil.example"), ("Host", "ops.example")), token, .foreignForm),
      (headers(("Origin", "null"), ("Host", "null")), token, .foreignForm),
      (headers(("Host", "ops.example")), token, .foreignForm),
      (headers(("Sec-Fetch-Site", "same-origin")), "", .foreignForm),
      (headers(("Sec-Fetch-Site", "same-origin")), policy.tokens.token(for: "eve"), .foreignForm),
    ]
    for (fields, token, expected) in cases {
      let found = refusal { () throws(Denial) in try policy.check(fields, token: token, of: visitor) }
      #expect(found == expected, "\(fields)")
    }
  }

  @Test func `the origin of a request follows from the browser's headers`() {
    let policy = policy()
    let link = [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
    let cases: [([(String, String)], RequestOrigin)] = [
      ([("Sec-Fetch-Site", "same-origin")], .console), ([("Sec-Fetch-Site", "none")] + link, .user),
      ([("Sec-Fetch-Site", "cross-site")] + link, .foreignLink),
      ([("Sec-Fetch-Site", "same-site")] + link, .foreignLink),
      ([("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "image")], .foreignLoad),
      ([("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")], .foreignLoad),
      ([("Sec-Fetch-Site", "cross-site")], .foreignLoad),
      ([("Referer", "http://ops.example/timeline"), ("Host", "ops.example")], .console),
      ([("Referer", "http://evil.example/"), ("Host", "ops.example")], .foreignLink),
      ([("Host", "ops.example")], .unknown),
    ]
    for (fields, expected) in cases { #expect(policy.origin(of: headers(fields)) == expected, "\(fields)") }
  }

  @Test func `a read-only console accepts no forms`() {
    let policy = policy(actions: false)
    let visitor = Visitor(name: "ada", mayAct: false)
    let found = refusal { () throws(Denial) in
      try policy.check(headers(("Sec-Fetch-Site", "same-origin")), token: policy.tokens.token(for: "ada"), of: visitor)
    }
    #expect(found == .readOnly)
  }

  @Test func `a token is valid for half a day to a day, for one user and one process`() {
    let now = Mutex<Int64>(FormTokens.windowSeconds * 100)
    let clock: @Sendable () -> Int64 = { now.withLock { $0 } }
    let tokens = FormTokens(seconds: clock)
    let token = tokens.token(for: "ada")
    #expect(tokens.isValid(token, for: "ada"))
    #expect(!tokens.isValid(token, for: "Ada"))
    #expect(!FormTokens(seconds: clock).isValid(token, for: "ada"))
    for broken in ["", "-", token + "0", String(token.dropLast()), "100-", "-" + token, token.uppercased() + "G"] {
      #expect(!tokens.isValid(broken, for: "ada"), "\(broken)")
    }
    now.withLock { $0 += FormTokens.windowSeconds }
    #expect(tokens.isValid(token, for: "ada"))
    now.withLock { $0 += FormTokens.windowSeconds }
    #expect(!tokens.isValid(token, for: "ada"))
  }

  @Test func `form fields are decoded as browsers encode them, and malformed ones are literal`() {
    let fields = FormFields("why=it+was%20%C3%BC&item=a%2F1&item=b&empty=&%zz=%4&&=x&late%")
    #expect(fields["why"] == "it was ü")
    #expect(fields.all("item") == ["a/1", "b"])
    #expect(fields["empty"] == "")
    #expect(fields["missing"] == "")
    #expect(fields["%zz"] == "%4")
  }
}
