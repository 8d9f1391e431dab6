// Runs the App Store simulator as a process.

import ArgumentParser

@main
struct AppStoreSimulatorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "appstore-simulator",
    abstract: "A fake App Store: sends signed notifications and serves the App Store Server API.",
    subcommands: [RunCommand.self, CheckCommand.self])
}
