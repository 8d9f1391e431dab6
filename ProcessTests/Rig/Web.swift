// HTTP requests of the scenarios: posts like Apple's, probes and metrics.

package import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1

/// Small HTTP requests.
package enum Web {
  /// Posts JSON and returns the status of the response.
  package static func post(_ body: [UInt8], to url: String, with client: HTTPClient = .shared) async throws -> Int {
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.headers.add(name: "content-type", value: "application/json")
    request.headers.add(name: "user-agent", value: "millrace-scenarios")
    request.body = .bytes(ByteBuffer(bytes: body))
    let response = try await client.execute(request, timeout: .seconds(30))
    // Read to the end, so the connection can be reused.
    for try await _ in response.body {}
    return Int(response.status.code)
  }

  /// Gets the status and the text of a small page.
  package static func get(_ url: String) async throws -> (status: Int, text: String) {
    let response = try await HTTPClient.shared.execute(HTTPClientRequest(url: url), timeout: .seconds(5))
    let body = try await response.body.collect(upTo: 4 << 20)
    return (Int(response.status.code), String(buffer: body))
  }

  /// Waits until a process answers its readiness probe with 200.
  ///
  /// - Parameters:
  ///   - url: The URL of the probe.
  ///   - process: The process; if it ends, so does the wait.
  package static func waitUntilReady(
    _ url: String, of process: Child? = nil, before deadline: ContinuousClock.Instant
  ) async throws {
    var last = "no answer"
    while ContinuousClock.now < deadline {
      if let process, let end = process.end { throw RunError("a process ended with \(end); see \(process.log)") }
      do {
        let answer = try await get(url)
        if answer.status == 200 { return }
        last = answer.text
      } catch {
        // The connection is refused until the process listens.
        last = "\(error)"
      }
      try await Task.sleep(for: .milliseconds(50))
    }
    throw RunError("\(url) did not answer 200 in time; last answer: \(last)")
  }
}
