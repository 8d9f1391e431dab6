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
  /// - Parameter timeout: The seconds of processor time after which the child counts as hung. On a busy machine they take
  ///   longer. A child that uses none because it waits for another thread is killed after 20 times as many seconds.
  static func run(timeout: UInt32, _ body: () -> Void) throws -> End {
    var output: Int32 = -1
    fflush(nil)
    let child = simulation_fork(&output, timeout)
    guard child >= 0 else { throw CannotStart() }
    if child == 0 {
      body()
      simulation_exit(0)
    }
    let deadline = simulation_real_time() + UInt64(timeout) * 20_000_000_000
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
      isLate || signal == SIGXCPU
      ? "no result after \(timeout) s of processor time"
      : signal != 0 ? "crashed with signal \(signal)" : status != 0 ? "ended with status \(status >> 8)" : nil
    return End(output: String(decoding: bytes, as: UTF8.self), failure: failure)
  }
}
