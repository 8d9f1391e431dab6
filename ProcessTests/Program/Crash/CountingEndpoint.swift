// The endpoint that the workers call. It outlives them, counts calls by the name of the effect, is sometimes slow, and
// sometimes answers 503 to a call that it counted. Workers may also ask it whether to run a handler.

import AppStoreSigning
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ScenarioRig
import ServiceLifecycle
import Synchronization

final class CountingEndpoint: Sendable {
  /// The calls for one effect.
  struct Effect: Sendable {
    /// The number of calls.
    var calls = 0
    /// The distinct bodies, as a receiver that de-duplicates by body counts them.
    var bodies: Set<[UInt8]> = []
  }

  private struct State {
    var random: SeededGenerator
    var isUnreliable = true
    var effects: [String: Effect] = [:]
    var calls = 0
    var runs: [String: Int] = [:]
    var refused: Set<String> = []
    var held: Int?
    var poison: String?
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>

  init(seed: UInt64) { state = Mutex(State(random: SeededGenerator(seed: seed))) }

  /// The effects, by name.
  var effects: [String: Effect] { state.withLock { $0.effects } }
  /// The number of all calls.
  var calls: Int { state.withLock { $0.calls } }
  /// The number of handler runs by notification, from workers that ask first.
  var runs: [String: Int] { state.withLock { $0.runs } }
  /// The number of calls whose answer is held back.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Whether some counted calls are answered 503.
  func setUnreliable(_ isUnreliable: Bool) { state.withLock { $0.isUnreliable = isUnreliable } }

  /// Kills every process that calls this effect, until ``heal()``.
  func poison(_ name: String) { state.withLock { $0.poison = name } }

  /// Stops killing.
  func heal() { state.withLock { $0.poison = nil } }

  /// Refuses these notifications, and no others.
  func refuse(_ notifications: Set<String>) { state.withLock { $0.refused = notifications } }

  /// Holds back the answers to this process until ``release()``.
  func hold(_ process: Int32) { state.withLock { $0.held = Int(process) } }

  /// Sends the held answers.
  func release() {
    let waiting = state.withLock { state in
      defer { (state.held, state.waiting) = (nil, []) }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Serves while `body` runs, and passes it the address.
  func serving<Result: Sendable>(
    _ body: @escaping @Sendable (_ url: String) async throws -> Result
  ) async throws -> Result {
    let (ports, told) = AsyncStream.makeStream(of: Int.self)
    let router = Router()
    router.post("/calls") { request, _ in
      let bytes = try await request.body.collect(upTo: 1 << 20)
      return try await self.answer(request.headers, Array(bytes.readableBytesView))
    }
    router.post("/runs") { request, _ in self.judge(request.headers) }
    var logger = Logger(label: "endpoint")
    logger.logLevel = .critical
    let application = Application(
      router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { channel in told.yield(channel.localAddress?.port ?? 0) }, logger: logger)
    let server = ServiceGroup(configuration: .init(services: [application], logger: logger))
    return try await run {
      guard let port = await ports.first(where: { _ in true }) else {
        throw RunError("the endpoint that counts calls does not listen")
      }
      return try await body("http://127.0.0.1:\(port)")
    } beside: {
      try await server.run()
    }
  }

  private func judge(_ headers: HTTPFields) -> Response {
    guard let id = HTTPField.Name("notification").flatMap({ headers[$0] }) else { return Response(status: .badRequest) }
    let isRefused = state.withLock { state in
      state.runs[id, default: 0] += 1
      return state.refused.contains(id)
    }
    return Response(
      status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: isRefused ? "refused" : "wanted")))
  }

  private func answer(_ headers: HTTPFields, _ body: [UInt8]) async throws -> Response {
    guard let name = HTTPField.Name("effect").flatMap({ headers[$0] }),
      let process = HTTPField.Name("process").flatMap({ headers[$0] }).flatMap({ Int($0) })
    else { return Response(status: .badRequest) }
    let (isHeld, isUnclear, isPoison, delay) = state.withLock { state in
      state.calls += 1
      state.effects[name, default: Effect()].calls += 1
      state.effects[name, default: Effect()].bodies.insert(body)
      let isUnclear = state.isUnreliable && Int.random(in: 0..<12, using: &state.random) == 0
      return (state.held == process, isUnclear, state.poison == name, Int.random(in: 0..<30, using: &state.random))
    }
    if isHeld { await wait(process) }
    // Time in which a process can be killed between its call and the answer.
    try await Task.sleep(for: .milliseconds(delay))
    if isPoison { return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "die"))) }
    return isUnclear
      ? Response(status: .serviceUnavailable)
      : Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "done")))
  }

  private func wait(_ process: Int) async {
    await withCheckedContinuation { continuation in
      let isHeld = state.withLock { state in
        guard state.held == process else { return false }
        state.waiting.append(continuation)
        return true
      }
      if !isHeld { continuation.resume() }
    }
  }
}
