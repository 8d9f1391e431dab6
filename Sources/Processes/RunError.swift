// The error of a program that runs child processes.

/// The reason why a run failed, as a sentence.
package struct RunError: Error, CustomStringConvertible {
  package var description: String

  package init(_ description: String) { self.description = description }
}
