// `millrace api test-notification`

import AppStoreServerAPI
import ArgumentParser
import MillraceTime
import MillraceWorker
import Operations

extension APICommand {
  struct TestNotification: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "test-notification",
      abstract: "Have Apple post a TEST to the URL in App Store Connect, and show the result.",
      discussion: """
        Asks for the status until Apple has tried to deliver it, or --wait has passed. Exits with 0 if Apple delivered \
        it, otherwise with 1. Without --environment, tests the production URL.

        Examples:
          millrace api test-notification
          millrace api test-notification --environment Sandbox --wait 2m
        """)

    @Option(help: ArgumentHelp("How long to wait for Apple's first attempt, or until when.", valueName: "duration"))
    var wait = TimeArgument(age: .seconds(60))

    @OptionGroup var options: APICommand.Options

    func validate() throws { try wait.check(atLeast: .seconds(1)) }

    func run() async throws {
      let (wait, options) = (self.wait, self.options)
      try await conclude(finishesOnSignal: true) { console in
        let configuration = try options.shared.load().configuration
        let app = try APIApp(app: options.app, environment: options.environment, in: configuration)
        let clock = MillraceClock(configuration.clock)
        let delivery = try await APIAccess.with(app, configuration, clock: clock, part: 1) { client in
          try await TestNotificationOperation(client, in: app.oneEnvironment, clock: clock)
            .run(waiting: wait.wait) { console.err.note($0) }
        }
        let out = console.out
        if options.output.wantsJSON(console) {
          try out.line(delivery.jsonLine)
        } else {
          try out.lines(delivery.lines(lineWidth: out.width, usesColor: out.usesColor))
        }
        console.err.note(delivery.sentence)
        return delivery.status
      }
    }
  }
}
