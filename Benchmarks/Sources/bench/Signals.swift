// Lets a helper process run until SIGTERM.
import Dispatch
import Foundation

enum Signals {
  /// Returns on SIGTERM or SIGINT.
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
