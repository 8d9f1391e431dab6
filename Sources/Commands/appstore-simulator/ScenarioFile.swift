// A scenario on disk. Files that it names are looked for next to it.

import AppStoreSimulator
import ArgumentParser
import Foundation

struct ScenarioFile: ParsableArguments {
  @Argument(help: "The scenario, YAML; see docs/simulator.md.") var scenario: String

  func read() throws -> Scenario {
    let directory = URL(fileURLWithPath: scenario).deletingLastPathComponent()
    let text: String
    do {
      text = try String(contentsOf: URL(fileURLWithPath: scenario), encoding: .utf8)
    } catch {
      throw ValidationError("\(scenario) cannot be read; name a file of scenarios/")
    }
    do {
      return try Scenario(yaml: text) { name in
        try String(contentsOf: URL(fileURLWithPath: name, relativeTo: directory), encoding: .utf8)
      }
    } catch {
      throw ValidationError("\(scenario): \(error)")
    }
  }

  /// The text of a file without white space around it.
  static func text(of path: String) throws -> String {
    do {
      return try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
        .trimmingCharacters(in: .whitespacesAndNewlines)
    } catch {
      throw ValidationError("\(path) cannot be read")
    }
  }
}

extension String {
  /// Writes the text; with `isSecret` readable for its owner only.
  func write(toFile path: String, isSecret: Bool) throws {
    let attributes: [FileAttributeKey: Any] = isSecret ? [.posixPermissions: 0o600] : [:]
    guard FileManager.default.createFile(atPath: path, contents: Data(utf8), attributes: attributes) else {
      throw ValidationError("\(path) cannot be written")
    }
  }
}
