internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Disconnects a client from its brokers and reconnects it, on any cluster. For tests of outages, which would otherwise
/// need the embedded cluster.
package final class NetworkFaultInjector: Sendable, Hashable {
  private struct State {
    var isOpen = true
    var sockets: Set<Int32> = []
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// Creates an open gate.
  package init() {}

  /// Breaks every connection and refuses new ones.
  package func close() {
    state.withLock { state in
      state.isOpen = false
      // A socket leaves the set under this lock before it is closed, so no descriptor here has been reused.
      for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
    }
  }

  /// Waits until the client has closed every connection. Call it after ``close()``.
  package func drained() async {
    await withCheckedContinuation { continuation in
      let isDrained = state.withLock { state in
        if !state.sockets.isEmpty { state.waiters.append(continuation) }
        return state.sockets.isEmpty
      }
      if isDrained { continuation.resume() }
    }
  }

  /// Lets connections through again.
  package func open() { state.withLock { $0.isOpen = true } }

  func connect(_ socket: Int32, _ address: UnsafePointer<sockaddr>?, _ length: socklen_t) -> Int32 {
    let isOpen = state.withLock { state in
      if state.isOpen { state.sockets.insert(socket) }
      return state.isOpen
    }
    guard isOpen else { return ECONNREFUSED }
    #if canImport(Glibc)
      let result = Glibc.connect(socket, address, length)
    #elseif canImport(Musl)
      let result = Musl.connect(socket, address, length)
    #else
      let result = Darwin.connect(socket, address, length)
    #endif
    // librdkafka's sockets do not block: EINPROGRESS is not a failure.
    return result == 0 || errno == EINPROGRESS ? 0 : errno
  }

  func closeSocket(_ socket: Int32) -> Int32 {
    let waiters = state.withLock { state in
      state.sockets.remove(socket)
      guard state.sockets.isEmpty else { return [CheckedContinuation<Void, Never>]() }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
    #if canImport(Glibc)
      return Glibc.close(socket)
    #elseif canImport(Musl)
      return Musl.close(socket)
    #else
      return Darwin.close(socket)
    #endif
  }

  package static func == (left: NetworkFaultInjector, right: NetworkFaultInjector) -> Bool { left === right }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
