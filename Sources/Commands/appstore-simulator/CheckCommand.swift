// `appstore-simulator check`: validates scenarios without playing them.

import AppStoreSimulator
import ArgumentParser

struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Validates scenarios without playing them.")

  @Argument(help: "Scenario files in YAML.") var scenarios: [String]

  func run() throws {
    for scenario in scenarios {
      var file = ScenarioFile()
      file.scenario = scenario
      let read = try file.read()
      print("\(scenario): \(read.apps.count) apps, \(read.customerCount) customers, \(read.events.count) events")
    }
  }
}
