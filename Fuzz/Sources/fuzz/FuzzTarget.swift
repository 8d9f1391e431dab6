// The fuzz targets' interface, and the exit on a broken property.

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A target that accepts any bytes. It must neither crash nor break its property.
protocol FuzzTarget {
  func run(_ input: UnsafeRawBufferPointer)
}

/// The target until the command line is read.
struct UnsetTarget: FuzzTarget {
  func run(_ input: UnsafeRawBufferPointer) {}
}

/// Ends the process with a crash, so that libFuzzer keeps the input.
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

  /// The bytes of a required file.
  static func contents(of path: String) -> [UInt8] {
    guard let file = fopen(path, "rb") else { report("cannot read \(path); run scripts/check fuzz, which creates it") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while true {
      let chunk = [UInt8](unsafeUninitializedCapacity: 65_536) { $1 = fread($0.baseAddress, 1, 65_536, file) }
      if chunk.isEmpty { return bytes }
      bytes += chunk
    }
  }
}
