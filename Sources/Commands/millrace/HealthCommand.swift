// `millrace health`

import AppStoreServerAPI
import ArgumentParser
import MillraceWorker
import Operations

struct HealthCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "health",
    abstract: "Check the health of the process on this machine; exits with 1 if it is unhealthy.",
    discussion: """
      For containers without a shell: queries the configured admin port, which belongs to the process in the same \
      container.

      Examples:
        millrace health
        millrace health --ready --config /etc/millrace/millrace.yaml
      """)

  @Flag(help: "Check readiness instead of liveness.")
  var ready = false

  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let (ready, shared) = (self.ready, self.shared)
    try await conclude { console in
      let settings = try shared.load().configuration.admin
      let exchange = AsyncHTTPExchange()
      let result: Result<ProcessHealth.Answer, OperationError>
      do throws(OperationError) {
        result = .success(try await ProcessHealth(settings, exchange: exchange).ask(ready ? .readyz : .livez))
      } catch {
        result = .failure(error)
      }
      try await exchange.shutdown()
      let answer = try result.get()
      try console.out.lines([answer.report])
      return answer.isHealthy ? .success : .failure
    }
  }
}
