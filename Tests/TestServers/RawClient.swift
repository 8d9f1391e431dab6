// A client that sends any bytes, including invalid HTTP.

internal import NIOCore
internal import NIOPosix

/// Sends bytes to a server on this machine.
package enum RawClient {
  /// The text to send, and the text that must have been received before the next step.
  package typealias Step = (send: String, until: String)

  /// Performs all steps, calls `onLastStep`, and reads until the server closes. Returns everything the server sent.
  package static func exchange(_ steps: [Step], port: Int, onLastStep: () -> Void = {}) async throws -> String {
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .connectTimeout(.seconds(120))
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
        // A reset also ends the exchange.
      } catch is ChannelError {
        // So does a server that closes before the next step.
      }
      return received
    }
  }

  /// Sends the text and reads until the server closes. Returns everything the server sent.
  package static func sendAndWaitForTheEnd(_ text: String, port: Int) async throws -> String {
    try await exchange([(text, "")], port: port)
  }

  /// Sends the text without reading, and returns when the server has closed the connection.
  package static func sendAndReadNothing(_ text: String, port: Int) async throws {
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .connectTimeout(.seconds(120))
      .channelOption(.autoRead, value: false)
      .channelOption(.socketOption(.so_rcvbuf), value: 4096)
      .connect(host: "127.0.0.1", port: port).get()
    channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
    try await channel.closeFuture.get()
  }

  /// Sends the text and closes the connection without reading.
  package static func sendAndLeave(_ text: String, port: Int) async throws {
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .connectTimeout(.seconds(120))
      .connect(host: "127.0.0.1", port: port).get()
    try await channel.writeAndFlush(ByteBuffer(string: text)).get()
    try await channel.close().get()
  }

  /// Sends the whole text before it reads anything. Returns everything the server sent until it closed.
  /// - Throws: `IOError` if the server resets the connection.
  package static func sendBeforeReading(_ text: String, port: Int) async throws -> String {
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .connectTimeout(.seconds(120))
      .channelOption(.autoRead, value: false)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
      }
    return try await channel.executeThenClose { inbound, _ in
      try await channel.channel.writeAndFlush(ByteBuffer(string: text)).get()
      try await channel.channel.setOption(.autoRead, value: true).get()
      var received = ""
      for try await part in inbound { received += String(buffer: part) }
      return received
    }
  }
}
