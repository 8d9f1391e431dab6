import AppStore
import MillraceTesting
import Testing

@testable import Winback

@Suite struct WinbackTests {
  @Test func `a subscriber who leaves on purpose is told of, once`() async throws {
    try await WorkerHarness.run(Winback.self) { harness in
      let notification = try await harness.receive(.expired, .voluntary)
      try await harness.receive(again: notification)
      #expect(try await harness.events().map(\.name) == ["subscriber.left"])
    }
  }

  @Test func `a renewal is no news`() async throws {
    try await WorkerHarness.run(Winback.self) { harness in
      try await harness.receive(.didRenew)
      #expect(try await harness.events().isEmpty)
      #expect(try await harness.deadLetters().isEmpty)
    }
  }
}
