// Waits for another process: the ingress's own readiness answer is the only thing that says it may be posted to.
import ArgumentParser
import AsyncHTTPClient
import Millrace
import NIOCore
import NIOHTTP1

struct WaitReady: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Waits until the ingress says that it is ready.")

  @OptionGroup var options: WorkspaceOptions
  @Option(help: "Seconds to wait.") var seconds = 30

  func run() async throws {
    let admin = try options.workspace.configuration().admin
    let url = "http://\(admin.host):\(admin.port)/readyz"
    let deadline = ContinuousClock.now + .seconds(seconds)
    var last = "no answer"
    while ContinuousClock.now < deadline {
      do {
        let response = try await HTTPClient.shared.execute(HTTPClientRequest(url: url), timeout: .seconds(5))
        let body = try await response.body.collect(upTo: 65_536)
        if response.status.code == 200 { return }
        last = String(buffer: body)
      } catch {
        // Refused connections are what waiting is for.
        last = "\(error)"
      }
      try await Task.sleep(for: .milliseconds(50))
    }
    throw DemoError("\(url) did not answer 200 within \(seconds) s; the last answer: \(last)")
  }
}
