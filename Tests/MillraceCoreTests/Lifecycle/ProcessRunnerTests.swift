import Logging
import ServiceLifecycle
import Testing

@testable import MillraceCore

@Suite struct ProcessRunnerTests {
  private struct Failure: Error {}

  private struct Work: Service {
    var body: @Sendable () async throws -> Void
    func run() async throws { try await body() }
  }

  private static func runner(readiness: ReadinessBoard? = nil) -> ProcessRunner {
    ProcessRunner(
      name: "test", shutdown: ShutdownSettings(), readiness: readiness,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, forceExit: { _ in })
  }

  @Test func `A service that fails ends the process with the status of its error`() async {
    #expect(await Self.runner().run([Work { throw Failure() }]) == .software)
    let refused = MillraceError(.unavailable, "w", remedy: "r")
    #expect(await Self.runner().run([Work { throw refused }]) == .unavailable)
  }

  @Test func `A service that returns by itself is a failure of the process`() async {
    #expect(await Self.runner().run([Work {}]) == .software)
  }

  @Test func `Each problem is printed on one line, without a stack trace`() {
    let lines = Lines()
    let error = MillraceError(
      .configuration,
      [.init("unknown key `a`", at: "m.yaml:1", remedy: "remove it"), .init("two\nlines", remedy: "mend it")])
    #expect(ProcessRunner.explain(error, name: "millrace-ingress", sink: lines.sink) == .configuration)
    #expect(
      lines.all == [
        "millrace-ingress: m.yaml:1: unknown key `a`; remove it\n", "millrace-ingress: two lines; mend it\n",
      ])
  }

  @Test func `Any other error is also printed on one line`() {
    let lines = Lines()
    #expect(ProcessRunner.explain(Failure(), name: "x", sink: lines.sink) == .software)
    #expect(lines.all.count == 1)
  }
}
