// What a process may free when it exits while librdkafka's threads still run

import Testing

@testable import KafkaClient

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

struct OpenSSLAtExitTests {
  @Test func `a process that exits leaves OpenSSL to the threads of librdkafka`() async {
    await #expect(processExitsWith: .success) {
      // Registered first, so it runs after OpenSSL's handler.
      atexit {
        guard let program = dlopen(nil, RTLD_NOW), let symbol = dlsym(program, "OPENSSL_init_crypto") else { _exit(2) }
        typealias Initialize = @convention(c) (UInt64, OpaquePointer?) -> CInt
        // 0 after OPENSSL_cleanup(3).
        if unsafeBitCast(symbol, to: Initialize.self)(0, nil) == 0 { _exit(3) }
      }
      _ = try KafkaProducer(
        KafkaConfiguration(bootstrapServers: "127.0.0.1:1", properties: ["security.protocol": "ssl"]))
      exit(0)
    }
  }
}
