// Reads a scenario file. Paths in it are relative to the file.

import AppStoreSimulator
import ArgumentParser
import Foundation

struct ScenarioFile: ParsableArguments {
  @Argument(help: "The scenario file in YAML; see docs/simulator.md.") var scenario: String

  func read() throws -> Scenario {
    let directory = URL(fileURLWithPath: scenario).deletingLastPathComponent()
    let text: String
    do {
      text = try String(contentsOf: URL(fileURLWithPath: scenario), encoding: .utf8)
    } catch {
      throw ValidationError("could not read \(scenario); pass a file of scenarios/")
    }
    do {
      return try Scenario(yaml: text) { name in
        try String(contentsOf: URL(fileURLWithPath: name, relativeTo: directory), encoding: .utf8)
      }
    } catch {
      throw ValidationError("\(scenario): \(error)")
    }
  }

  /// The text of a file, without surrounding white space.
  static func text(of path: String) throws -> String {
    do {
      return try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
        .trimmingCharacters(in: .whitespacesAndNewlines)
    } catch {
      throw ValidationError("could not read \(path)")
    }
  }
}

extension String {
  /// Writes the text. If `isSecret`, only the owner can read the file.
  func write(toFile path: String, isSecret: Bool) throws {
    let attributes: [FileAttributeKey: Any] = isSecret ? [.posixPermissions: 0o600] : [:]
    guard FileManager.default.createFile(atPath: path, contents: Data(utf8), attributes: attributes) else {
      throw ValidationError("could not write \(path)")
    }
  }
}
