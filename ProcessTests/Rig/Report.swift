// Prints what a scenario does and finds.

internal import Foundation

/// Prints a line.
@Sendable package func say(_ line: String) {
  FileHandle.standardOutput.write(Data("    \(line)\n".utf8))
}

/// The violated guarantees as lines: the first ones, and the number of the others.
package func faultLines(_ faults: [String], upTo limit: Int, more: String = "and", mark: (String) -> String) -> [String]
{
  faults.prefix(limit).map(mark) + (faults.count > limit ? ["\(more) \(faults.count - limit) more"] : [])
}
