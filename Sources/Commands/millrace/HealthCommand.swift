// `millrace health`

import AppStoreServerAPI
import ArgumentParser
import Millrace
import Operations

struct HealthCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "health",
    abstract: "Ask the process on this machine whether it is well; ends with 1 when it is not.",
    discussion: """
      For containers without a shell: it asks the admin port that the configuration names, which is that of the process \
      beside it.

      Examples:
        millrace health
        millrace health --ready --config /etc/millrace/millrace.yaml
      """)

  @Flag(help: "Ask whether it can do its work, not only whether it turns.")
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
