// librdkafka uses OpenSSL, whose exit handler frees what librdkafka's threads still use if a process exits before they end.

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// OpenSSL's exit handler.
enum OpenSSLAtExit {
  /// Keeps OpenSSL from registering its exit handler, before librdkafka initializes OpenSSL. The kernel frees the memory of
  /// a process that exits. Has no effect on a librdkafka that contains its own OpenSSL.
  ///
  /// A client is destroyed by its own thread, which may not have ended when the program exits. Then the handler raced with
  /// it, and a command that had done its work ended with SIGABRT or SIGSEGV.
  static let isPrevented: Bool = {
    // By name, because the build needs librdkafka's header only.
    guard let program = dlopen(nil, RTLD_NOW), let symbol = dlsym(program, "OPENSSL_init_crypto") else { return false }
    typealias Initialize = @convention(c) (UInt64, OpaquePointer?) -> CInt
    return unsafeBitCast(symbol, to: Initialize.self)(noAtExit, nil) == 1
  }()

  /// `OPENSSL_INIT_NO_ATEXIT` of OPENSSL_init_crypto(3), since OpenSSL 1.1.1b.
  private static let noAtExit: UInt64 = 0x0008_0000
}
