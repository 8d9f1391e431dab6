// Suggests a command for one that does not exist. ArgumentParser only says that the argument is unexpected.

import AppStore
import ArgumentParser

extension ParsableCommand {
  /// Returns what is wrong with the names of the commands in an invocation; nil if nothing is, or no name is similar.
  /// - Parameter path: The commands so far.
  static func unknownCommand(_ words: ArraySlice<String>, after path: String) -> String? {
    guard let word = words.first, !word.hasPrefix("-") else { return nil }
    let commands = configuration.subcommands
    if let command = commands.first(where: { $0._commandName == word || $0.configuration.aliases.contains(word) }) {
      return command.unknownCommand(words.dropFirst(), after: "\(path) \(word)")
    }
    return NearestName.of(word, among: commands.map { $0._commandName }).map {
      "there is no command `\(path) \(word)`; did you mean `\(path) \($0)`?"
    }
  }
}
