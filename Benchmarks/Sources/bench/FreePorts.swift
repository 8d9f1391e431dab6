// Finds free ports of the loopback interface, and checks whether a port is in use.
import Glibc

enum FreePorts {
  /// Returns different ports that are not in use. The system chooses them.
  static func find(_ count: Int) throws -> [Int] {
    var descriptors: [CInt] = []
    // All stay open until all are chosen, so that no port is chosen twice.
    defer { for descriptor in descriptors { close(descriptor) } }
    return try (0..<count).map { _ in
      let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
      descriptors.append(descriptor)
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let port = onLoopback(port: 0) { address in
        guard bind(descriptor, address, length) == 0 else { return false }
        return getsockname(descriptor, address, &length) == 0
      }
      guard let port else { throw BenchError("no free port on the loopback interface") }
      return port
    }
  }

  /// Whether a connection to the port is accepted.
  static func isOpen(_ port: Int) -> Bool {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    return onLoopback(port: port) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 } != nil
  }

  /// The port of the address after `body` has used it; nil if it failed.
  private static func onLoopback(port: Int, _ body: (UnsafeMutablePointer<sockaddr>) -> Bool) -> Int? {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isDone = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
    }
    return isDone ? Int(UInt16(bigEndian: address.sin_port)) : nil
  }
}
