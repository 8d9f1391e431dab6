// The error of a scenario that cannot go on.

/// The reason why a run failed, as a sentence.
package struct RunError: Error, CustomStringConvertible {
  package var description: String

  package init(_ description: String) { self.description = description }
}
