// Runs each seed in a child process of the machine, so that seeds do not influence each other, and a crash is a result.

internal import CSimulation
internal import Glibc

enum Child {
  /// The end of a child.
  struct End: Sendable {
    var output: String
    /// The reason, if the child did not end normally.
    var failure: String?
  }

  struct CannotStart: Error {}

  /// Runs `body` in a child and returns what it printed.
  /// - Parameter timeout: The seconds after which the child counts as hung and is killed.
  static func run(timeout: Double, _ body: () -> Void) throws -> End {
    var output: Int32 = -1
    fflush(nil)
    let child = simulation_fork(&output)
    guard child >= 0 else { throw CannotStart() }
    if child == 0 {
      body()
      simulation_exit(0)
    }
    let deadline = simulation_real_time() + UInt64(timeout * 1e9)
    var (bytes, buffer, isLate) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16), false)
    while true {
      let now = simulation_real_time()
      if now >= deadline {
        kill(child, SIGKILL)
        isLate = true
        break
      }
      var waited = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard poll(&waited, 1, Int32(min(1_000, (deadline - now) / 1_000_000 + 1))) > 0 else { continue }
      let count = read(output, &buffer, buffer.count)
      if count <= 0 { break }
      bytes += buffer[..<count]
    }
    close(output)
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7f
    let failure =
      isLate
      ? "no result after \(Int(timeout)) s"
      : signal != 0 ? "crashed with signal \(signal)" : status != 0 ? "ended with status \(status >> 8)" : nil
    return End(output: String(decoding: bytes, as: UTF8.self), failure: failure)
  }
}
