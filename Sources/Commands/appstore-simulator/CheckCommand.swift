// `appstore-simulator check`: what a scenario says, without playing it.

import AppStoreSimulator
import ArgumentParser

struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Reads scenarios and says what is wrong with them, without playing them.")

  @Argument(help: "Scenarios, YAML.") var scenarios: [String]

  func run() throws {
    for scenario in scenarios {
      var file = ScenarioFile()
      file.scenario = scenario
      let read = try file.read()
      print("\(scenario): \(read.apps.count) apps, \(read.customerCount) customers, \(read.events.count) events")
    }
  }
}
