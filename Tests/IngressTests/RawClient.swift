// A client that sends bytes as a test says, sound HTTP or not.

import NIOCore
import NIOPosix

enum RawClient {
  /// One thing said, and what is waited for in everything received so far before the next is said.
  typealias Step = (send: String, until: String)

  /// Takes every step, tells so, then reads until the server closes; returns all that the server sent.
  static func exchange(_ steps: [Step], port: Int, onLastStep: () -> Void = {}) async throws -> String {
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
      }
    return try await channel.executeThenClose { inbound, outbound in
      var received = ""
      var parts = inbound.makeAsyncIterator()
      do {
        for step in steps {
          if !step.send.isEmpty { try await outbound.write(ByteBuffer(string: step.send)) }
          while !received.contains(step.until), let part = try await parts.next() { received += String(buffer: part) }
        }
        onLastStep()
        while let part = try await parts.next() { received += String(buffer: part) }
      } catch is IOError {
        // A reset is an end too.
      } catch is ChannelError {
        // And so is a server that closed before the next step was said.
      }
      return received
    }
  }

  /// Sends, then reads until the server closes; returns what it sent.
  static func sendAndWaitForTheEnd(_ text: String, port: Int) async throws -> String {
    try await exchange([(text, "")], port: port)
  }

  /// Sends without ever reading, and returns once the server has closed.
  static func sendAndReadNothing(_ text: String, port: Int) async throws {
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .channelOption(.autoRead, value: false)
      .channelOption(.socketOption(.so_rcvbuf), value: 4096)
      .connect(host: "127.0.0.1", port: port).get()
    channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
    try await channel.closeFuture.get()
  }
}
