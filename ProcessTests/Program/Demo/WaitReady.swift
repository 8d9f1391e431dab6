// Waits until the ingress's readiness probe succeeds.
import ArgumentParser
import MillraceWorker
import ScenarioRig

struct WaitReady: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Waits until the ingress is ready.")

  @OptionGroup var options: WorkspaceOptions
  @Option(help: "Seconds to wait.") var seconds = 30

  func run() async throws {
    let admin = try options.workspace.configuration().admin
    try await Web.waitUntilReady(
      "http://\(admin.host):\(admin.port)/readyz", before: ContinuousClock.now + .seconds(seconds))
  }
}
