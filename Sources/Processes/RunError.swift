// Why a run of processes cannot go on.

/// What stopped a run, in a sentence.
package struct RunError: Error, CustomStringConvertible {
  package var description: String

  package init(_ description: String) { self.description = description }
}
