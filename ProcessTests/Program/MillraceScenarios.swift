// Scenarios with real processes: crashes, a rehearsed outage, a demonstration, and the workers that only scenarios run.

import ArgumentParser

@main struct MillraceScenarios: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "millrace-scenarios",
    abstract: "Runs real processes of Millrace and checks what they promise.",
    subcommands: [
      CrashCommand.self, RelaneCommand.self, RehearseCommand.self, DemoCommand.self, WorkerCommand<CrashWorker>.self,
      WorkerCommand<ChangedRefunds>.self,
    ])
}
