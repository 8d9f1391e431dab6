// A fake App Store as a process: arguments in, scenario read, run, report.

import ArgumentParser

@main
struct AppStoreSimulatorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "appstore-simulator",
    abstract: "A fake App Store: sends signed notifications and serves the App Store Server API.",
    subcommands: [RunCommand.self, CheckCommand.self, BenchmarkCommand.self])
}
