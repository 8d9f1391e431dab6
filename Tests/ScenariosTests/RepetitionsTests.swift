// Tests which repetitions of a refused request the rehearsal counts as errors of the workers.

import AppStore
import AppStoreSimulator
import Testing

@testable import millrace_scenarios

@Suite struct RepetitionsTests {
  private static let killed = second(100)..<second(130)

  private static func second(_ seconds: Int64) -> Timestamp { Timestamp(millisecondsSince1970: seconds * 1_000) }

  private static func call(_ seconds: Int64, _ subscription: String = "1", isRefused: Bool = true) -> Repetitions.Call {
    .init(time: second(seconds), subscription: subscription, isRefused: isRefused)
  }

  private static func explained(
    _ calls: [Repetitions.Call], killed: Range<Timestamp>? = RepetitionsTests.killed
  ) -> Int {
    Repetitions.explained(calls, killed: killed, commit: .seconds(10))
  }

  @Test(arguments: [90, 99, 100, 130] as [Int64])
  func `a refusal that the killed process may not have committed is sent again`(refused: Int64) {
    #expect(Self.explained([Self.call(refused), Self.call(140)]) == 1)
  }

  @Test func `a committed refusal is not sent again`() {
    #expect(Self.explained([Self.call(89), Self.call(140)]) == 0, "long before the process died")
    #expect(Self.explained([Self.call(131), Self.call(140)]) == 0, "after every lane had restarted")
    #expect(Self.explained([Self.call(95), Self.call(99)]) == 0, "by the process itself")
    #expect(Self.explained([Self.call(99), Self.call(140)], killed: nil) == 0, "no process was killed")
    #expect(Self.explained([Self.call(99, "1"), Self.call(140, "2")]) == 0, "another subscription")
  }

  @Test func `a refused repetition is not repeated`() {
    #expect(Self.explained([Self.call(99), Self.call(140), Self.call(150)]) == 1)
  }

  @Test func `if the repetition's response was lost too, its result is unknown again`() {
    #expect(Self.explained([Self.call(99), Self.call(140, isRefused: false), Self.call(150)]) == 2)
  }
}
