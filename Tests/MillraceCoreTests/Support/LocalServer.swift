// An HTTP server on a free port of this machine, for the time of a test.

import Hummingbird
import Testing

enum LocalServer {
  /// Answers every GET and POST while `body` runs, which gets the server's URL.
  static func answering(
    _ answer: @escaping @Sendable (Request) async throws -> Response, _ body: (String) async throws -> Void
  ) async throws {
    let router = Router()
    router.post("**") { request, _ in try await answer(request) }
    router.get("**") { request, _ in try await answer(request) }
    let (ports, told) = AsyncStream.makeStream(of: Int.self)
    let application = Application(
      router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { told.yield($0.localAddress?.port ?? 0) })
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await application.run() }
      var iterator = ports.makeAsyncIterator()
      let port = try #require(await iterator.next())
      try await body("http://127.0.0.1:\(port)")
      group.cancelAll()
    }
  }
}
