import AppStore
import MillraceTesting
import Testing

@testable import Winback

@Suite struct WinbackTests {
  @Test func `a subscriber who cancels causes one event`() async throws {
    try await WorkerHarness.run(Winback.self) { harness in
      let notification = try await harness.receive(.expired, .voluntary)
      try await harness.receive(again: notification)
      #expect(try await harness.events().map(\.name) == ["subscriber.left"])
    }
  }

  @Test func `a renewal causes no event`() async throws {
    try await WorkerHarness.run(Winback.self) { harness in
      try await harness.receive(.didRenew)
      #expect(try await harness.events().isEmpty)
      #expect(try await harness.deadLetters().isEmpty)
    }
  }
}
