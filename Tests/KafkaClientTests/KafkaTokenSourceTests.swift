import Synchronization
import TestEnvironment
import Testing

@testable import KafkaClient

@Suite(.timeLimit(.minutes(5))) struct KafkaTokenSourceTests {
  /// A source whose clock and server the test controls.
  private final class Stage: Sendable {
    struct Refused: Error, CustomStringConvertible {
      var description: String { "refused" }
    }

    private let state = Mutex((now: Int64(0), fetches: 0, isDown: false, lifetime: Int64(1_000), ends: [Int64?]()))

    var fetches: Int { state.withLock(\.fetches) }
    /// The ends of the fetched tokens; nil for a failure.
    var ends: [Int64?] { state.withLock(\.ends) }

    func pass(_ time: Int64) { state.withLock { $0.now += time } }
    func isDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }
    func lifetime(_ lifetime: Int64) { state.withLock { $0.lifetime = lifetime } }

    func source() -> KafkaTokenSource {
      KafkaTokenSource(
        now: { self.state.withLock(\.now) },
        ended: { result in self.state.withLock { $0.ends.append(try? result.get()) } },
        fetch: { try self.fetch() })
    }

    private func fetch() throws -> KafkaToken {
      try state.withLock { state in
        state.fetches += 1
        if state.isDown { throw Refused() }
        return KafkaToken(value: "\(state.fetches)", expiresAt: state.now + state.lifetime, principal: "millrace")
      }
    }
  }

  private static func token(_ number: Int, until end: Int64) -> KafkaToken {
    KafkaToken(value: "\(number)", expiresAt: end, principal: "millrace")
  }

  @Test func `a token is fetched again when three quarters of its time have passed`() async {
    let stage = Stage()
    let source = stage.source()
    let first = Self.token(1, until: 1_000)
    #expect(await source.answer(known: nil) == .token(first))
    stage.pass(749)
    #expect(await source.answer(known: nil) == .token(first))
    stage.pass(1)
    #expect(await source.answer(known: first) == .token(Self.token(2, until: 1_750)))
    #expect(stage.ends == [1_000, 1_750])
  }

  @Test func `requests at the same time share a fetch`() async throws {
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let fetches = Atomic<Int>(0)
    let source = KafkaTokenSource(
      now: { 0 }, ended: { _ in },
      fetch: {
        fetches.add(1, ordering: .relaxed)
        for await _ in gate { break }
        return Self.token(1, until: 1_000)
      })
    try await withThrowingTaskGroup(of: TokenAnswer.self) { group in
      for _ in 0..<50 { group.addTask { await source.answer(known: nil) } }
      try await waitUntil(fetches.load(ordering: .relaxed) > 0)
      for _ in 0..<1_000 { await Task.yield() }
      open.finish()
      for try await answer in group { #expect(answer == .token(Self.token(1, until: 1_000))) }
    }
    #expect(fetches.load(ordering: .relaxed) == 1)
  }

  @Test func `after a failure a new client gets the last token, and a client that has it the reason`() async {
    let stage = Stage()
    stage.lifetime(100_000)
    let source = stage.source()
    let first = Self.token(1, until: 100_000)
    _ = await source.answer(known: nil)
    stage.isDown(true)
    stage.pass(80_000)
    #expect(await source.answer(known: first) == .failure("refused"))
    #expect(await source.answer(known: nil) == .token(first))
    #expect(await source.answer(known: first) == .failure("refused"))
    #expect(stage.fetches == 2, "clients share a failure for five seconds")
    stage.pass(20_000)
    #expect(await source.answer(known: nil) == .failure("refused"))
    stage.isDown(false)
    stage.pass(5_000)
    #expect(await source.answer(known: first) == .token(Self.token(4, until: 205_000)))
    #expect(stage.ends == [100_000, nil, nil, 205_000])
  }

  @Test func `a client without a token does not wait for a fetch that hangs`() async {
    let time = Mutex(Int64(0))
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let fetches = Atomic<Int>(0)
    let source = KafkaTokenSource(
      now: { time.withLock { $0 } }, ended: { _ in },
      fetch: {
        if fetches.add(1, ordering: .relaxed).newValue > 1 { for await _ in gate { break } }
        return Self.token(1, until: time.withLock { $0 } + 1_000)
      })
    let first = await source.answer(known: nil)
    time.withLock { $0 = 800 }
    #expect(await source.answer(known: nil) == first)
    open.finish()
  }

  @Test func `a token that librdkafka would refuse is a failure that does not show it`() async {
    let table: [(KafkaToken, String)] = [
      (Self.token(1, until: 0), "the token expired at 0, and it is 0, in milliseconds since 1970: check the clock"),
      (
        KafkaToken(value: "\u{FEFF}hunter2", expiresAt: 1, principal: "p"),
        "the token is empty, or has a character that is not visible ASCII"
      ),
      (
        KafkaToken(value: "", expiresAt: 1, principal: "p"),
        "the token is empty, or has a character that is not visible ASCII"
      ),
      (
        KafkaToken(value: "t", expiresAt: 1, principal: "p", extensions: ["pool1": "x"]),
        "the name of the extension pool1 must have letters only, and must not be auth"
      ),
      (
        KafkaToken(value: "t", expiresAt: 1, principal: "p", extensions: ["auth": "x"]),
        "the name of the extension auth must have letters only, and must not be auth"
      ),
      (
        KafkaToken(value: "t", expiresAt: 1, principal: "p", extensions: ["pool": "hünter2"]),
        "the value of the extension pool has a character that is not ASCII"
      ),
    ]
    for (token, reason) in table {
      let source = KafkaTokenSource(now: { 0 }, ended: { _ in }, fetch: { token })
      #expect(await source.answer(known: nil) == .failure(reason))
    }
  }

  @Test func `printing a token shows no part of it`() {
    let token = KafkaToken(value: "hunter2", expiresAt: 1, principal: "millrace")
    #expect("\(token)" == "token of millrace until 1")
    #expect(String(reflecting: token) == "token of millrace until 1")
  }

  @Test func `a client with tokens has no other mechanism`() {
    var configuration = KafkaConfiguration(bootstrapServers: "b:1", properties: ["sasl.mechanism": "PLAIN"])
    #expect(configuration.objection == nil)
    configuration.tokens = Stage().source()
    #expect(configuration.objection == "sasl.mechanism must be OAUTHBEARER: the clients have tokens")
  }

  @Test func `a missing token is a problem that names its reason`() async throws {
    let stage = Stage()
    stage.isDown(true)
    var configuration = KafkaConfiguration(
      bootstrapServers: "127.0.0.1:1", properties: ["security.protocol": "sasl_plaintext"])
    configuration.tokens = stage.source()
    let handle = try ClientHandle(
      .producer, properties: try configuration.adminProperties(), label: "test", tokens: configuration.tokens)
    var problems = BrokerProblems()
    while problems.all.isEmpty {
      await handle.wake.wait()
      problems.drain(handle.queue)
    }
    #expect(problems.all == [BrokerProblem(broker: "", kind: .token, words: "refused")])
  }
}
