// What is fuzzed, and how a broken property ends the run.

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Something that takes any bytes at all and must neither trap nor break its property.
protocol FuzzTarget {
  func run(_ input: UnsafeRawBufferPointer)
}

/// Stands there until the command line was read.
struct UnsetTarget: FuzzTarget {
  func run(_ input: UnsafeRawBufferPointer) {}
}

/// The end of the process: a broken property must look like a crash to libFuzzer, so that it keeps the input.
enum Failure {
  static func report(_ message: String) -> Never {
    print("fuzz: \(message)")
    fflush(nil)
    abort()
  }

  static func exit(_ status: CInt) -> Never {
    #if canImport(Darwin)
      Darwin.exit(status)
    #elseif canImport(Musl)
      Musl.exit(status)
    #else
      Glibc.exit(status)
    #endif
  }

  /// The bytes of a file that the run cannot do without.
  static func contents(of path: String) -> [UInt8] {
    guard let file = fopen(path, "rb") else { report("cannot read \(path); run scripts/fuzz, which makes it") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while true {
      let chunk = [UInt8](unsafeUninitializedCapacity: 65_536) { $1 = fread($0.baseAddress, 1, 65_536, file) }
      if chunk.isEmpty { return bytes }
      bytes += chunk
    }
  }
}
