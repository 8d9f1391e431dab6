import AppStore
import AsyncHTTPClient
import Dispatch
import MillraceTime
import KafkaClient
import MillraceRecords
import MillraceWorker
import MillraceTesting
import NIOCore
import NIOHTTP1
import TestEnvironment
import TestServers
import Testing

@testable import Console

@Suite(.timeLimit(.minutes(15))) struct ConsoleFrontTests {
  private static let letters = (0..<3).map {
    Written.deadLetter("n\($0)", key: "200000000000000\($0)", lane: 0, at: Deployment.now - .seconds(60))
  }
  private static let item = "refunds/0/0"
  private static let lookup = "/dead-letters/refunds/0/0"

  // MARK: - Reading

  @Test func `every page restricts what may load it, and loads nothing from other sites`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      try await stage.produce(Self.letters)
      for path in [
        "/", "/dead-letters", "/dead-letters/refunds/0/0", "/dead-letters/decide?do=requeue&item=\(Self.item)",
        "/timeline",
        "/timeline?id=2000000000000000", "/console.css", "/console.js", "/console.svg",
      ] {
        let answer = try await stage.ask(path)
        #expect(answer.status == .ok, "\(path)")
        let policy = answer.headers.first(name: "Content-Security-Policy")
        #expect(policy == Answers.contentSecurityPolicy, "\(path)")
        #expect(answer.headers.first(name: "X-Content-Type-Options") == "nosniff")
        // A response that reads topics closes its connection.
        let reads = path.hasPrefix("/timeline?id=") || path == Self.lookup
        #expect(answer.headers.first(name: "Connection") == (reads ? "close" : nil), "\(path)")
        let text = String(buffer: try await answer.body.collect(upTo: 1 << 20))
        #expect(!text.isEmpty, "\(path)")
        if !path.hasPrefix("/console.") {
          #expect(!text.contains("http://") && !text.contains("https://"), "\(path)")
          #expect(answer.headers.first(name: "Cache-Control") == "no-store")
        }
      }
    }
  }

  @Test func `without a user nothing is shown`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      for path in ["/", "/live", "/console.css", "/dead-letters", "/nowhere"] {
        let answer = try await stage.ask(path, headers: [])
        #expect(answer.status == .forbidden, "\(path)")
        #expect(!String(buffer: try await answer.body.collect(upTo: 1 << 20)).contains("<"), "\(path)")
      }
    }
  }

  @Test func `without a proxy it answers to the local machine's names and accepts forms from them`() async throws {
    try await ConsoleStage.run(proxy: .none) { (stage) async throws in
      #expect(try await stage.ask("/", headers: []).status == .ok)
      #expect(try await stage.ask("/", headers: [("Host", "evil.example")]).status == .forbidden)
      try await stage.produce(Self.letters)
      let token = try await stage.token("/dead-letters/decide?do=discard&item=\(Self.item)")
      for (origin, status) in [("http://evil.example", HTTPResponseStatus.forbidden), (stage.address, .ok)] {
        let answer = try await stage.ask(
          "/dead-letters/discard", .POST, headers: [("Origin", origin)], form: form(token))
        #expect(answer.status == status, "\(origin)")
      }
      #expect(stage.commands.map(\.by) == ["me"])
    }
  }

  @Test func `an unknown path is 404, and another method is 405`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      for path in [
        "/nowhere", "/dead-letters/refunds/0/7", "/dead-letters/refunds/99/0", "/dead-letters/other/0/0",
        "/dead-letters/refunds/x/y", "/dead-letters/decide?do=burn",
      ] {
        #expect(try await stage.ask(path).status == .notFound, "\(path)")
      }
      #expect(try await stage.ask("/", .PUT).status == .methodNotAllowed)
    }
  }

  @Test func `pages contain payloads only if that is enabled`() async throws {
    let letter = ProducerRecord(
      topic: Self.letters[0].topic, partition: 0, key: Self.letters[0].key, value: Array("{\"email\": \"a@b.c\"}".utf8),
      headers: Self.letters[0].headers, timestamp: Self.letters[0].timestamp)
    for showsPayloads in [false, true] {
      try await ConsoleStage.run(showsPayloads: showsPayloads) { (stage) async throws in
        try await stage.produce([letter])
        let page = try await stage.text("/dead-letters/refunds/0/0")
        #expect(page.contains("the database said no"))
        #expect(page.contains("first it was slow"))
        #expect(page.contains("a@b.c") == showsPayloads)
        #expect(page.contains("--show-payloads") != showsPayloads)
      }
    }
  }

  @Test func `a timeline is streamed as it is read, and a read error ends it`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      try await stage.produce([Written.deadLetter("n", key: "2000000000000001", at: Deployment.now - .seconds(60))])
      let page = try await stage.text("/timeline?id=2000000000000001")
      #expect(page.contains("<li class=\"dead\">"))
      #expect(page.hasSuffix("</html>\n"))
    }
    try await ConsoleStage.run(isLogAway: true) { (stage) async throws in
      let broken = try await stage.text("/timeline?id=2000000000000001")
      #expect(broken.contains("incomplete because reading failed"))
      #expect(broken.hasSuffix("</html>\n"))
    }
  }

  @Test func `the search finds a customer by a token, and the timeline begins with the state`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
      func write(_ key: String, _ token: String) throws {
        let row: JSONObject = [
          "originalTransactionId": .string(key), "status": "active", "appAccountToken": .string(token),
          "entitledUntil": .string((Deployment.now + .seconds(60)).rfc3339),
        ]
        try stage.log.append(
          ProducerRecord(topic: "appstore.subscriptions", key: Array(key.utf8), value: row.serialized()))
      }
      try write("2000000000000001", token)
      try await stage.produce([Written.deadLetter("n", key: "2000000000000001", at: Deployment.now - .seconds(60))])
      let page = try await stage.text("/timeline?id=\(token)")
      #expect(page.contains("Found by its appAccountToken.") && page.contains("yes, until"), "\(page)")
      #expect(page.contains("<li class=\"dead\">") && page.contains("<dt>state</dt><dd>open</dd>"), "\(page)")
      try write("2000000000000002", token)
      let choice = try await stage.text("/timeline?id=\(token)&days=7")
      #expect(choice.contains("href=\"/timeline?id=2000000000000002&amp;days=7\"") && choice.hasSuffix("</html>\n"))
      #expect(!choice.contains("class=\"timeline\""))
      let order = try await stage.text("/timeline?id=MK5TTTVWJH")
      #expect(order.contains("no app has credentials") && !order.contains("</ol>") && order.hasSuffix("</html>\n"))
    }
  }

  @Test func `a timeline ends when its reader disconnects`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      // The log does not respond, so reading the timeline never ends.
      let key = "2000000000000000"
      try await stage.produce([Written.deadLetter("n", key: key, at: Deployment.now - .seconds(60))])
      stage.log.pause()
      let (heard, hear) = AsyncStream<Void>.makeStream()
      let reading = Task {
        let answer = try await stage.ask("/timeline?id=\(key)")
        for try await _ in answer.body { hear.yield() }
      }
      for await _ in heard { break }
      reading.cancel()
      _ = await reading.result
      // If the timeline continued, the server and this test would not end.
    }
  }

  /// Opens as many timelines as there are places, of a log that does not respond, so that they never end.
  private func fill(_ stage: ConsoleStage) async throws -> [Task<Void, any Error>] {
    for letter in Self.letters { try stage.log.append(letter) }
    stage.log.pause()
    let readers = (0..<stage.scans.limit).map { _ in
      Task {
        let answer = try await stage.ask("/timeline?id=2000000000000000")
        for try await _ in answer.body {}
      }
    }
    try await waitUntil(stage.scans.admitted == stage.scans.limit)
    return readers
  }

  private func end(_ readers: [Task<Void, any Error>]) async {
    for reader in readers { reader.cancel() }
    for reader in readers { _ = await reader.result }
  }

  @Test func `requests that read topics share places, a few more wait for a moment, and others are refused`()
    async throws
  {
    try await ConsoleStage.run { (stage) async throws in
      let readers = try await fill(stage)
      let lookUp = { @Sendable () async throws -> (HTTPResponseStatus, String?) in
        let answer = try await stage.ask(Self.lookup)
        _ = try await answer.body.collect(upTo: 1 << 20)
        return (answer.status, answer.headers.first(name: "Retry-After"))
      }
      let waiting = (0..<12).map { _ in Task { try await lookUp() } }
      try await waitUntil(stage.scans.waiting == waiting.count)
      for path in [Self.lookup, "/timeline?id=2000000000000000"] {
        let refused = try await stage.ask(path)
        #expect(refused.status == .serviceUnavailable && refused.headers.first(name: "Retry-After") == "5")
        #expect(String(buffer: try await refused.body.collect(upTo: 1 << 20)).contains("Too many pages are reading"))
      }
      // Other pages are not affected.
      for path in ["/", "/dead-letters", "/timeline"] { #expect(try await stage.ask(path).status == .ok, "\(path)") }
      stage.manual.advance(by: ConsoleResponder.scanPatience)
      for task in waiting { #expect(try await task.value == (.serviceUnavailable, "5")) }
      await end(readers)
      try await waitUntil(stage.scans.admitted == 0)
      stage.log.resume()
      #expect(try await lookUp() == (.ok, nil))
    }
  }

  @Test func `other pages do not wait for the threads of requests that read topics`() async throws {
    let gate = BlockingGate()
    defer { gate.open() }
    try await ConsoleStage.run(onConnect: { gate.wait() }) { (stage) async throws in
      // These compute without end.
      let readers = (0..<stage.scans.limit).map { _ in Task { try await stage.text("/timeline?id=2000000000000000") } }
      try await waitUntil(stage.scans.admitted == stage.scans.limit)
      for path in ["/", "/dead-letters", "/timeline"] { #expect(try await stage.ask(path).status == .ok, "\(path)") }
      gate.open()
      for reader in readers { #expect(try await reader.value.hasSuffix("</html>\n")) }
      try await waitUntil(stage.scans.admitted == 0)
    }
  }

  @Test func `a client that disconnects frees its place, or leaves the queue`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      let readers = try await fill(stage)
      let user = "host: a\r\nx-forwarded-user: ada\r\nsec-fetch-site: same-origin\r\n\r\n"
      let waiting = Task { try await stage.ask(Self.lookup) }
      try await waitUntil(stage.scans.waiting == 1)
      waiting.cancel()
      _ = await waiting.result
      try await waitUntil(stage.scans.waiting == 0)

      let next = Task { try await stage.ask(Self.lookup) }
      try await waitUntil(stage.scans.waiting == 1)
      await end([readers[0]])
      try await waitUntil(stage.scans.waiting == 0)
      #expect(stage.scans.admitted == stage.scans.limit, "the lookup has the place of the timeline")
      next.cancel()
      _ = await next.result
      await end(Array(readers.dropFirst()))
      try await waitUntil(stage.scans.admitted == 0)

      // The log still does not respond, so only the disconnection ends these.
      for path in [Self.lookup, "/timeline?id=2000000000000000"] {
        for _ in 0..<20 { try await RawClient.sendAndLeave("GET \(path) HTTP/1.1\r\n\(user)", port: stage.port) }
        try await waitUntil(stage.scans.admitted + stage.scans.waiting == 0)
      }
    }
  }

  @Test func `a client that reads nothing keeps no place and no connection`() async throws {
    try await ConsoleStage.run(idle: .milliseconds(200)) { (stage) async throws in
      let detail = String(repeating: "a long reason ", count: 2_000)
      try await stage.produce(
        (0..<200).map {
          Written.deadLetter(
            "n\($0)", key: "2000000000000000", detail: detail, lane: 0, at: Deployment.now - .seconds(60))
        })
      let user = "host: a\r\nx-forwarded-user: ada\r\nsec-fetch-site: same-origin\r\n\r\n"
      for path in ["/timeline?id=2000000000000000", "/dead-letters?state=all"] {
        // Returns when the server has closed the connection. A timeline closes it in any case.
        try await RawClient.sendAndReadNothing(
          String(repeating: "GET \(path) HTTP/1.1\r\n\(user)", count: 20_000), port: stage.port)
        try await waitUntil(stage.scans.admitted == 0)
      }
    }
  }

  @Test(arguments: ["/timeline?id=", "/dead-letters?q=", "/"])
  func `an oversize head is refused, and its connection closes`(path: String) async throws {
    try await ConsoleStage.run { (stage) async throws in
      let received = try await RawClient.sendAndWaitForTheEnd(
        "GET \(path)\(String(repeating: "1", count: 1 << 20)) HTTP/1.1\r\nhost: a\r\n\r\n", port: stage.port)
      #expect(received.isEmpty || received.hasPrefix("HTTP/1.1 400"), "\(received.prefix(200))")
    }
  }

  @Test func `hostile parameters are refused or bounded`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      try await stage.produce(Self.letters)
      let most = "9223372036854775807"
      for path in [
        "/dead-letters?from=\(most)", "/dead-letters?from=-\(most)", "/dead-letters?from=99999999999999999999",
        "/dead-letters/refunds/2147483647/\(most)", "/dead-letters/refunds/0/\(most)",
        "/dead-letters/refunds/-1/-1", "/dead-letters/%00/0/0", "/timeline?id=1&days=\(most)",
        "/timeline?id=1&days=-\(most)", "/timeline?id=%00%ff", "/timeline?id=\(String(repeating: "x", count: 15_000))",
        "/runs/\(String(repeating: "x", count: 15_000))", "/dead-letters?q=\(String(repeating: "%25", count: 5_000))",
        "/dead-letters/decide?do=requeue\(String(repeating: "&item=a/0/0", count: 1_200))",
      ] {
        let answer = try await stage.ask(path)
        #expect([200, 400, 404].contains(answer.status.code), "\(path.prefix(60)): \(answer.status)")
        _ = try await answer.body.collect(upTo: 1 << 20)
      }
      #expect(try await stage.ask("/").status == .ok)
    }
  }

  @Test func `a form from another site is refused before its body is read`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      let head =
        "POST /dead-letters/discard HTTP/1.1\r\nhost: a\r\nx-forwarded-user: ada\r\norigin: http://evil.example\r\n"
      // The body never comes.
      let received = try await RawClient.exchange(
        [("\(head)content-length: 200000\r\nconnection: close\r\n\r\n", "HTTP/1.1 403")], port: stage.port)
      #expect(received.contains("HTTP/1.1 403"), "\(received)")
    }
  }

  @Test func `a request from another site reads nothing, and its link leads to the form`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      try await stage.produce([Written.deadLetter("n", key: "2000000000000001", at: Deployment.now - .seconds(60))])
      let user = ("X-Forwarded-User", "ada")
      let path = "/timeline?id=2000000000000001&days=7"
      let image = [user, ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "image")]
      for path in [path, "/", "/live", "/dead-letters", "/dead-letters/refunds/0/0"] {
        let answer = try await stage.ask(path, headers: image)
        #expect(answer.status == .forbidden, "\(path)")
        _ = try await answer.body.collect(upTo: 1 << 20)
      }
      let link = [
        user, ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document"),
      ]
      for headers in [link, [user], [user, ("Referer", "https://evil.example/")]] {
        let page = try await stage.text(path, headers: headers)
        #expect(!page.contains("class=\"dead\""), "\(headers)")
        #expect(page.contains("value=\"2000000000000001\"") && page.contains("value=\"7\" selected"), "\(headers)")
      }
      let typed = [user, ("Sec-Fetch-Site", "none"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
      #expect(try await stage.text(path, headers: typed).contains("<li class=\"dead\">"))
    }
  }

  // MARK: - Acting

  private func form(_ token: String, why: String = "fixed", item: String = item) -> String {
    "token=\(token)&why=\(why)&item=\(item)"
  }

  @Test func `a decision is a command in the user's name, audited before and after`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      try await stage.produce(Self.letters)
      let token = try await stage.token("/dead-letters/decide?do=discard&item=\(Self.item)")
      let answer = try await stage.ask("/dead-letters/discard", .POST, form: form(token, why: "not+ours"))
      #expect(answer.status == .ok)
      #expect(stage.commands.map(\.by) == ["ada"])
      #expect(stage.commands.map(\.action) == [.discard])
      #expect(stage.commands.map(\.why) == ["not ours"])
      #expect(stage.audit.map(\.by) == ["ada", "ada"])
      #expect(stage.audit.map(\.action) == [.discard, .discard])
      #expect(stage.audit.map(\.source) == ["millrace-console", "millrace-console"])
      #expect(stage.audit.first?.why == "not ours")
      guard case .started? = stage.audit.first?.phase, case .ended? = stage.audit.last?.phase else {
        return #expect(Bool(false), "\(stage.audit)")
      }
    }
  }

  @Test func `all dead letters found are settled together, and each of them once`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      try await stage.produce(Self.letters)
      let path = "/dead-letters/decide?do=requeue&all=1&worker=refunds&q=database"
      let page = try await stage.text(path)
      #expect(page.contains("3 dead letters"))
      let token = try await stage.token(path)
      let items = (0..<3).map { "&item=refunds/0/\($0)" }.joined()
      for _ in 0..<2 {
        _ = try await stage.ask("/dead-letters/requeue", .POST, form: "token=\(token)&why=again\(items)")
      }
      #expect(Set(stage.commands.map(\.item)) == Set((0..<3).map { "dead-letters/0/\($0)" }))
      #expect(stage.commands.count == 3)
    }
  }

  @Test func `the page announces which dead letters exceed the limit and leaves them out`() async throws {
    try await ConsoleStage.run(deadLetters: 2_000) { (stage) async throws in
      let count = DeadLetterService.limit + 7
      try await stage.produce(
        (0..<count).map { Written.deadLetter("n\($0)", key: "1", lane: 0, at: Deployment.now + .seconds($0)) })
      let list = try await stage.text("/dead-letters")
      #expect(list.contains("the newest \(Words.count(DeadLetterService.limit)) of \(Words.count(count)) found"))
      let page = try await stage.text("/dead-letters/decide?do=discard&all=1")
      #expect(page.contains("Discard \(Words.count(DeadLetterService.limit)) dead letters?"))
      #expect(page.contains("7 more were found and are not included"))
      #expect(!page.contains("value=\"refunds/0/6\"") && page.contains("value=\"refunds/0/7\""))
      #expect(try await stage.text("/dead-letters?q=0/3").contains("all 1 found"))
    }
  }

  @Test func `a dead letter that is not in memory is shown with its state, without buttons`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      for letter in Self.letters { try stage.log.append(letter) }
      let path = "/dead-letters/refunds/0/0"
      let early = try await stage.text(path)
      #expect(early.contains("state not known yet") && !early.contains("<button name=\"do\""))
      await stage.store.begin(reading: [])
      let open = try await stage.text(path)
      #expect(open.contains(">open</span>") && open.contains("millrace dead-letters requeue 0/0 --worker refunds"))
      #expect(!open.contains("<button name=\"do\""))
      let command = OperationCommand(
        id: "c", item: OperationCommand.deadLetter(lane: 0, offset: 0), worker: "refunds", lane: 0, action: .discard,
        why: "", by: "grace", at: Deployment.now)
      try await stage.produce([OperationsRecord.command(command).producerRecord("millrace.operations")])
      #expect(try await stage.text(path).contains("not executed yet by grace"))
      let failed = OperationResult(command, .failed("no such topic"), at: Deployment.now)
      try stage.log.append(OperationsRecord.result(failed).producerRecord("millrace.operations"))
      await stage.store.apply(stage.log.records(in: "millrace.operations").suffix(1))
      let again = try await stage.text(path)
      #expect(again.contains(">open</span>") && again.contains("grace&#39;s discard failed: no such topic"))
    }
  }

  @Test func `a form from another site, without its token, or with another user's token is rejected`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      try await stage.produce(Self.letters)
      let token = try await stage.token("/dead-letters/decide?do=discard&item=\(Self.item)")
      #expect(!token.isEmpty)
      let user = ("X-Forwarded-User", "ada")
      let cases: [([(String, String)], String)] = [
        ([user, ("Sec-Fetch-Site", "cross-site")], form(token)),
        ([user, ("Origin", "https://evil.example")], form(token)), ([user], form(token)),
        (ConsoleStage.own, form("")), (ConsoleStage.own, form("0-00")),
        ([("X-Forwarded-User", "eve"), ("Sec-Fetch-Site", "same-origin")], form(token)), ([], form(token)),
      ]
      for (headers, form) in cases {
        let answer = try await stage.ask("/dead-letters/discard", .POST, headers: headers, form: form)
        #expect(answer.status == .forbidden, "\(headers)")
      }
      // GET has no such path.
      #expect(try await stage.ask("/dead-letters/discard?token=\(token)&why=x&item=\(Self.item)").status == .notFound)
      #expect(try await stage.ask("/dead-letters/discard", .POST, form: form(token, why: "")).status == .badRequest)
      #expect(
        try await stage.ask("/dead-letters/discard", .POST, form: form(token, item: "refunds/0/99")).status
          == .badRequest)
      let large = form(token) + String(repeating: "&item=refunds/0/0", count: 20_000)
      #expect(try await stage.ask("/dead-letters/discard", .POST, form: large).status == .payloadTooLarge)
      #expect(stage.commands.isEmpty)
      #expect(stage.audit.isEmpty)
    }
  }

  @Test func `a read-only console offers and accepts no actions`() async throws {
    try await ConsoleStage.run(allowsActions: false) { (stage) async throws in
      try await stage.produce(Self.letters)
      for path in ["/dead-letters", "/dead-letters/refunds/0/0"] {
        let page = try await stage.text(path)
        #expect(!page.contains("<button name=\"do\""), "\(path)")
        #expect(page.contains("read-only"))
      }
      #expect(try await stage.ask("/dead-letters/decide?do=requeue&item=\(Self.item)").status == .forbidden)
      let token = FormTokens { 0 }.token(for: "ada")
      #expect(try await stage.ask("/dead-letters/requeue", .POST, form: form(token)).status == .forbidden)
      #expect(stage.commands.isEmpty)
    }
  }

  @Test func `without the audit topic nothing is done`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      try await stage.produce(Self.letters)
      let token = try await stage.token("/dead-letters/decide?do=discard&item=\(Self.item)")
      stage.log.fail(
        .send, with: [KafkaError(code: .closed, operation: "send", reason: "refused")], in: AuditRecord.topic)
      #expect(try await stage.ask("/dead-letters/discard", .POST, form: form(token)).status == .serviceUnavailable)
      #expect(stage.commands.isEmpty)
    }
  }

  @Test func `a user can pause, resume and stop a run, and each step is audited`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      let run = """
        {"kind": "run", "run": "r1", "state": "running", "by": "grace", "owner": "o", "sliceMilliseconds": 3600000,
         "startedAt": 1767225000000, "updatedAt": 1767225600000, "slicesDone": 1,
         "selection": {"targets": [{"bundleId": "a", "environment": "Production"}], "from": 0, "to": 36000000}}
        """
      try await stage.produce([
        ProducerRecord(topic: "millrace.backfills", key: Array("run/r1".utf8), value: Array(run.utf8))
      ])
      let page = try await stage.text("/runs/r1")
      #expect(page.contains("1 of 10 slices"))
      #expect(page.contains("value=\"pause\"") && page.contains("value=\"stop\"") && !page.contains("value=\"resume\""))
      let token = try await stage.token("/runs/r1")
      for (form, status) in [
        ("verb=pause", HTTPResponseStatus.forbidden), ("token=\(token)&verb=burn", .badRequest),
        ("token=\(token)&verb=pause", .ok),
      ] {
        #expect(try await stage.ask("/runs/r1", .POST, form: form).status == status, "\(form)")
      }
      #expect(try await stage.ask("/runs/r2", .POST, form: "token=\(token)&verb=stop").status == .notFound)
      let controls = stage.log.records(in: "millrace.backfills").filter { $0.key == Array("wish/r1".utf8) }
      #expect(controls.count == 1)
      let word = "r1/pause/\(stage.manual.clock.wallTime.millisecondsSince1970)"
      #expect(Set(stage.audit.map(\.id)) == ["\(word)/started", "\(word)/ended/wish"])
      #expect(stage.audit.first?.by == "ada")
    }
  }

  @Test func `a run's page says what became of its records`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      let backfill = AuditRecord(
        run: "b1", .backfill, .started(parts: 1), by: "ann", source: "millrace", at: Deployment.now - .seconds(60))
      let requeue = AuditRecord(
        run: "q1", .requeue, .started(parts: 1), by: "ann", source: "millrace", at: Deployment.now, target: "refunds")
      let pause = AuditRecord(
        run: "p1", .pause, .started(parts: 0), by: "ann", source: "millrace", at: Deployment.now, target: "b1")
      try await stage.produce([backfill, requeue, pause].map { $0.producerRecord(prefix: "") })
      var record = Written.notification("n", key: "1", at: Deployment.now)
      record.headers.append(RecordHeader(AuditRecord.runHeader, "b1"))
      try stage.log.append(record)
      #expect(try await stage.text("/runs/b1").contains("No worker has records of this run."))
      let page = try await stage.text("/runs/q1")
      #expect(page.contains("What became of the records") && page.contains("<th scope=\"row\">requeue · refunds</th>"))
      #expect(page.contains("Waiting") == false && page.contains(">waiting</th>"), "\(page)")
      #expect(!page.contains("<form class=\"actions\""))
      #expect(try await stage.ask("/runs/p1").status == .notFound)
      var facts = ClusterFacts()
      facts.topics = [AuditRecord.topic: 1]
      await stage.store.learn(facts)
      let overview = try await stage.text("/")
      #expect(overview.contains("href=\"/runs/q1\"") && !overview.contains("href=\"/runs/p1\""))
      let token = try await stage.token("/dead-letters/decide")
      #expect(try await stage.ask("/runs/q1", .POST, form: "token=\(token)&verb=stop").status != .ok)
    }
    try await ConsoleStage.run(isLogAway: true) { (stage) async throws in
      try await stage.produce([
        AuditRecord(
          run: "q1", .requeue, .started(parts: 1), by: "ann", source: "millrace", at: Deployment.now, target: "refunds"
        ).producerRecord(prefix: "")
      ])
      let page = try await stage.text("/runs/q1")
      #expect(page.contains("could not be counted") && page.contains("millrace replay status q1"))
    }
  }

  // MARK: - Live

  @Test func `a live page receives only what changed`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      let answer = try await stage.ask("/live")
      #expect(answer.headers.first(name: "Content-Type") == "text/event-stream")
      var parts = answer.body.makeAsyncIterator()
      var heard = ""
      func hear(until words: String) async throws {
        while !heard.contains(words), let part = try await parts.next() { heard += String(buffer: part) }
      }
      try await hear(until: "\"id\":\"audit\"")
      for id in ["glance", "flow", "lag", "retries", "dead-letters", "campaigns", "deadlines", "runs"] {
        #expect(heard.contains("\"id\":\"\(id)\""), "\(id)")
      }
      #expect(!heard.contains("handler-error"))
      heard = ""
      try await stage.produce(Self.letters)
      await stage.manual.waitForSleepers()
      stage.manual.advance(by: LiveUpdates.interval)
      try await hear(until: "\"id\":\"dead-letters\"")
      #expect(heard.contains("handler-error"))
      #expect(!heard.contains("\"id\":\"campaigns\""))
    }
  }

  @Test func `only changed sections are sent, each on one line`() {
    var live = LiveSections()
    let first = live.changes(in: [("a", "<p>\n1</p>"), ("b", "<p>2</p>")])
    #expect(first.split(separator: "\n\n").count == 2)
    #expect(first.split(separator: "\n").allSatisfy { $0.hasPrefix("event: section") || $0.hasPrefix("data: {") })
    #expect(live.changes(in: [("a", "<p>\n1</p>"), ("b", "<p>2</p>")]) == "")
    #expect(live.changes(in: [("a", "<p>\n1</p>"), ("b", "<p>3</p>")]).contains("\"id\":\"b\""))
  }
}

/// Blocks threads until it opens.
private final class BlockingGate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func open() { semaphore.signal() }

  func wait() {
    semaphore.wait()
    semaphore.signal()
  }
}
