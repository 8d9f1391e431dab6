// Finds unused ports of the loopback interface.

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

package enum FreePorts {
  /// Returns different ports that the system chose. Another process may take one before it is used; its user then
  /// fails.
  package static func find(_ count: Int) throws -> [Int] {
    var sockets: [CInt] = []
    // All sockets stay open until all ports are chosen, or the system could choose one twice.
    defer { for socket in sockets { close(socket) } }
    return try (0..<count).map { _ in
      #if canImport(Glibc)
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
      #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
      #endif
      guard descriptor >= 0 else { throw RunError("could not open a socket: errno \(errno)") }
      sockets.append(descriptor)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let status = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
        }
      }
      guard status == 0 else { throw RunError("no free port on the loopback interface: errno \(errno)") }
      return Int(UInt16(bigEndian: address.sin_port))
    }
  }
}
