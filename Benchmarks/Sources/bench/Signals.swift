// The end of a helper process: it is told by SIGTERM.
import Dispatch
import Foundation

enum Signals {
  /// Returns when SIGTERM or SIGINT comes.
  static func termination() async throws {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let sources = [SIGTERM, SIGINT].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { continuation.yield() }
      source.resume()
      return source
    }
    for await _ in stream { break }
    for source in sources { source.cancel() }
  }
}
