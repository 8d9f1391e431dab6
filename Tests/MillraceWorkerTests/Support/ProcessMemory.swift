// The memory of the test process, for tests that bound it.

import Foundation
import Testing

/// Memory of this process.
enum ProcessMemory {
  /// The resident memory in MB.
  /// - Parameter returningFree: Whether free blocks are first returned to the system.
  static func resident(returningFree: Bool = true) throws -> Double {
    // The module Glibc does not export <malloc.h>.
    if returningFree, let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "malloc_trim") {
      _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)(0)
    }
    let statm = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    let pages = try #require(statm.dropFirst().first.flatMap { Double($0) })
    return pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1e6
  }
}
