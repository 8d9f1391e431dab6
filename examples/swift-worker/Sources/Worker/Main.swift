// Starts the endpoint. SIGTERM lets the requests in flight finish.

import Foundation
import Hummingbird

@main
enum Main {
  static func main() async throws {
    let environment = ProcessInfo.processInfo.environment
    guard let secretFile = environment["WEBHOOK_SECRET_FILE"] else {
      FileHandle.standardError.write(Data("set WEBHOOK_SECRET_FILE\n".utf8))
      exit(2)
    }
    let port = environment["PORT"].flatMap { Int($0) } ?? 8000
    try await Application(
      router: router(secretFile: secretFile), configuration: .init(address: .hostname("0.0.0.0", port: port))
    ).runService()
  }
}
