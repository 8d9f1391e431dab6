// Runs the operator's console as a process.

internal import ArgumentParser
internal import Console

@main
enum MillraceConsole {
  static func main() async { await ConsoleCommand.main() }
}
