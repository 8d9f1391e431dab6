// HTTP as the programs that watch processes need it: a post as Apple makes one, a probe, a page of metrics.

internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1

/// Small requests.
package enum Web {
  /// Posts JSON and gives the status of the answer.
  package static func post(_ body: [UInt8], to url: String) async throws -> Int {
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.headers.add(name: "content-type", value: "application/json")
    request.headers.add(name: "user-agent", value: "millrace-processes")
    request.body = .bytes(ByteBuffer(bytes: body))
    let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
    // Read to the end, so that the connection can be used again.
    for try await _ in response.body {}
    return Int(response.status.code)
  }

  /// Status and text of a small page.
  package static func get(_ url: String) async throws -> (status: Int, text: String) {
    let response = try await HTTPClient.shared.execute(HTTPClientRequest(url: url), timeout: .seconds(5))
    let body = try await response.body.collect(upTo: 4 << 20)
    return (Int(response.status.code), String(buffer: body))
  }

  /// Waits until a process answers 200 at its readiness probe, which alone says that it may be used.
  ///
  /// - Parameters:
  ///   - url: The probe.
  ///   - process: Whose end ends the wait.
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
        // Refused connections are what waiting is for.
        last = "\(error)"
      }
      try await Task.sleep(for: .milliseconds(50))
    }
    throw RunError("\(url) did not answer 200 in time; the last answer: \(last)")
  }
}
