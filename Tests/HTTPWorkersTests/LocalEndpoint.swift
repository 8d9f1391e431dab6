// An HTTP server on the loopback interface that answers as a test says, also badly.

import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import TestServers

final class LocalEndpoint: Sendable {
  /// The reaction to a request.
  enum Reply: Sendable {
    /// Bytes to send, after a delay.
    case bytes([UInt8], after: Duration = .zero)
    /// An answer 200 whose body has this many bytes.
    case large(Int)
    /// Closes the connection without an answer.
    case hangUp
    /// Sends nothing and keeps the connection open.
    case silence

    static func answer(
      _ status: Int, _ headers: [String] = ["content-type: application/json"], _ body: String = "",
      after delay: Duration = .zero
    ) -> Reply {
      let length = status == 204 ? [] : ["content-length: \(body.utf8.count)"]
      let head = (["HTTP/1.1 \(status) Said"] + headers + length).joined(separator: "\r\n")
      return .bytes(Array("\(head)\r\n\r\n\(body)".utf8), after: delay)
    }
  }

  typealias React = @Sendable (_ id: String, _ body: [UInt8]) -> Reply

  private struct State {
    var requests: [String] = []
    var watchers: [AsyncStream<Void>.Continuation] = []
    var connections = 0
  }

  private let state = Mutex(State())
  private let react: React
  private let port = Mutex(0)

  var url: String { "http://127.0.0.1:\(port.withLock { $0 })/hook" }
  var secureURL: String { "https://127.0.0.1:\(port.withLock { $0 })/hook" }
  /// The ids of the requests so far.
  var requests: [String] { state.withLock(\.requests) }
  /// The number of connections so far.
  var connections: Int { state.withLock(\.connections) }

  private init(_ react: @escaping React) { self.react = react }

  /// Runs a server while `body` uses it.
  static func serving<Result: Sendable>(
    tls: TLSConfiguration? = nil, _ react: @escaping React, _ body: (LocalEndpoint) async throws -> Result
  ) async throws -> Result {
    let server = LocalEndpoint(react)
    let context = try tls.map { try NIOSSLContext(configuration: $0) }
    let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          if let context { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context)) }
          try channel.pipeline.syncOperations.addHandler(Conversation(server))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    server.port.withLock { $0 = channel.localAddress?.port ?? 0 }
    do {
      let result = try await body(server)
      try await channel.close()
      return result
    } catch {
      try await channel.close()
      throw error
    }
  }

  /// Waits until there are this many requests.
  func wait(for count: Int) async {
    let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    state.withLock { $0.watchers.append(change) }
    change.yield()
    for await _ in changes where requests.count >= count { return }
  }

  fileprivate func connected() { state.withLock { $0.connections += 1 } }

  fileprivate func received(_ id: String, _ body: [UInt8]) -> Reply {
    state.withLock { state in
      state.requests.append(id)
      for watcher in state.watchers { watcher.yield() }
    }
    return react(id, body)
  }
}

/// One connection.
private final class Conversation: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let server: LocalEndpoint
  private var bytes: [UInt8] = []

  init(_ server: LocalEndpoint) { self.server = server }

  func channelActive(context: ChannelHandlerContext) { server.connected() }
  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    bytes += unwrapInboundIn(data).readableBytesView
    while let (id, body) = next() {
      switch server.received(id, body) {
      case .silence: break
      case .hangUp: context.close(promise: nil)
      case .large(let count):
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: \(count)\r\n\r\n"
        let body = [UInt8](repeating: UInt8(ascii: " "), count: count)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: Array(head.utf8) + body)), promise: nil)
      case .bytes(let reply, let delay):
        let channel = context.channel
        let (seconds, attoseconds) = delay.components
        channel.eventLoop.scheduleTask(in: .nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)) {
          channel.writeAndFlush(ByteBuffer(bytes: reply), promise: nil)
        }
      }
    }
  }

  private func next() -> (String, [UInt8])? {
    guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: [13, 10, 13, 10]) }) else { return nil }
    var headers: [String: String] = [:]
    for line in String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n").dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
    }
    let length = headers["content-length"].flatMap { Int($0) } ?? 0
    let start = end + 4
    guard bytes.count >= start + length else { return nil }
    let body = Array(bytes[start..<(start + length)])
    bytes.removeFirst(start + length)
    return (headers["webhook-id"] ?? "", body)
  }
}

/// A directory that is removed at the end.
struct TestFolder {
  let url = FileManager.default.temporaryDirectory.appending(path: "http-workers-\(UUID())")

  init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

  func path(_ name: String) -> String { url.appending(path: name).path }

  @discardableResult
  func write(_ text: String, to name: String) throws -> String {
    try Data(text.utf8).write(to: url.appending(path: name), options: .atomic)
    return path(name)
  }

  func remove() throws { try FileManager.default.removeItem(at: url) }
}
