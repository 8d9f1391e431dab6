// Tests the embedded cluster itself.

import Glibc
import KafkaClient
import Testing

@Suite(.timeLimit(.minutes(15))) struct EmbeddedClusterTests {
  @Test func `no other program gets the port of a broker that is down, and the broker comes back`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let server = try #require(cluster.embedded.bootstrapServers.split(separator: ":").last)
    let port = try #require(UInt16(server))
    for _ in 0..<2 {
      try cluster.embedded.takeDown(1)
      #expect(Self.bindingError(port) == EADDRINUSE)
      try cluster.embedded.bringUp(1)
    }
    let position = try await cluster.withProducer { producer in
      try await producer.send(ProducerRecord(topic: "t", value: [1]))
    }
    #expect(position.offset == 0)
  }

  /// Tries to bind a loopback port, and returns the error, or 0.
  private static func bindingError(_ port: UInt16) -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 ? 0 : errno
      }
    }
  }
}
