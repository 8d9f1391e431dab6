// The operator's console.

internal import ArgumentParser
internal import Console

@main
enum MillraceConsole {
  static func main() async { await ConsoleCommand.main() }
}
