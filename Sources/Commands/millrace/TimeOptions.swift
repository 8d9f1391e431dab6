// Times as arguments of commands.

internal import ArgumentParser
import MillraceTime
import Operations

extension TimeArgument: ExpressibleByArgument {
  /// Parses an argument.
  package init?(argument: String) { self.init(argument) }

  /// How long to wait from now on.
  var wait: Duration { wait(from: MillraceClock.system.wallTime) }

  /// Refuses a wait that is over.
  func check(atLeast least: Duration = .milliseconds(1)) throws {
    guard wait < least else { return }
    throw ValidationError("--wait must be at least \(DurationText.text(least)), such as 30s or 5m, not \(self).")
  }
}

extension StartArgument: ExpressibleByArgument {
  /// Parses an argument.
  package init?(argument: String) { self.init(argument) }
}
