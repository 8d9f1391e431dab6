package import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

extension MillraceError {
  /// Creates an error for a server that cannot listen.
  ///
  /// - Parameter key: The configuration key that names the port.
  package init(listening error: IOError, host: String, port: Int, key: String) {
    let isTaken = error.errnoCode == EADDRINUSE
    self.init(
      .unavailable, "cannot listen on \(host):\(port): \(isTaken ? "the port is in use" : "\(error)")", at: key,
      remedy: isTaken ? "stop the process there, or set another port" : "set an address and port of this machine")
  }
}
