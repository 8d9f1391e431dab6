import MillraceTime
import Synchronization
import Testing

@testable import HTTPWorkers

@Suite struct CircuitTests {
  private static func at(_ seconds: Double) -> Circuit.Instant { .init(elapsed: .seconds(seconds)) }

  /// Feeds results of requests at time 0 and returns whether the circuit is open.
  private static func isOpen(after results: [(String, Circuit.Result)]) -> Bool {
    var circuit = Circuit()
    for (record, result) in results {
      if circuit.ask(record, now: at(0)) == .send { circuit.ended(record, result, now: at(0)) }
    }
    return circuit.isOpen
  }

  @Test(
    arguments: [
      ([], false), ([("a", .failed), ("a", .failed), ("a", .failed), ("a", .failed)], false),
      ([("a", .failed), ("b", .failed)], false), ([("a", .failed), ("b", .failed), ("c", .failed)], true),
      ([("a", .failed), ("b", .failed), ("d", .answered), ("c", .failed)], false),
      ([("a", .failed), ("b", .failed), ("d", .busy(until: at(9))), ("c", .failed)], true),
      ([("a", .failed), ("b", .failed), ("d", .abandoned), ("c", .abandoned)], false),
      ([("a", .misconfigured), ("a", .misconfigured)], false), ([("a", .misconfigured), ("b", .misconfigured)], true),
      ([("a", .misconfigured), ("b", .answered), ("c", .misconfigured)], false),
      ([("a", .misconfigured), ("b", .failed), ("c", .failed)], false),
    ] as [([(String, Circuit.Result)], Bool)])
  func `it opens after failures of different records without an answer in between`(
    results: [(String, Circuit.Result)], isOpen: Bool
  ) {
    #expect(Self.isOpen(after: results) == isOpen)
  }

  private static func open() -> Circuit {
    var circuit = Circuit()
    for record in ["a", "b", "c"] { circuit.ended(record, .failed, now: at(0)) }
    return circuit
  }

  @Test func `after a pause one other record is the probe, and an answer closes the circuit`() {
    var circuit = Self.open()
    #expect(circuit.ask("a", now: Self.at(0.5)) == .wait(until: Self.at(1)))
    #expect(circuit.ask("c", now: Self.at(1)) == .wait(until: Self.at(11)), "the record that failed last waits")
    #expect(circuit.ask("a", now: Self.at(1)) == .send)
    #expect(circuit.ask("b", now: Self.at(2)) == .wait(until: Self.at(61)), "one probe at a time")
    circuit.ended("a", .answered, now: Self.at(3))
    #expect(!circuit.isOpen && circuit.ask("c", now: Self.at(3)) == .send)
  }

  @Test func `a failed probe doubles the pause up to a minute`() {
    var circuit = Self.open()
    var (now, pauses) = (1.0, [Double]())
    for number in 0..<8 {
      let record = "p\(number)"
      #expect(circuit.ask(record, now: Self.at(now)) == .send)
      circuit.ended(record, .failed, now: Self.at(now))
      guard case .wait(let until) = circuit.ask("other", now: Self.at(now)) else { return #expect(Bool(false)) }
      pauses.append(Self.at(now).duration(to: until) / .seconds(1))
      now = until.elapsed / .seconds(1)
    }
    #expect(pauses == [2, 4, 8, 16, 32, 60, 60, 60])
  }

  @Test func `the record that failed last is the probe if no other record comes`() {
    var circuit = Self.open()
    #expect(circuit.ask("c", now: Self.at(11)) == .send)
  }

  @Test func `a probe that never ends is replaced`() {
    var circuit = Self.open()
    #expect(circuit.ask("a", now: Self.at(1)) == .send)
    #expect(circuit.ask("b", now: Self.at(60)) == .wait(until: Self.at(61)))
    #expect(circuit.ask("b", now: Self.at(61)) == .send)
  }

  @Test func `a probe that the endpoint puts off is repeated at that time`() {
    var circuit = Self.open()
    #expect(circuit.ask("a", now: Self.at(1)) == .send)
    circuit.ended("a", .busy(until: Self.at(30)), now: Self.at(1))
    #expect(circuit.ask("b", now: Self.at(29)) == .wait(until: Self.at(30)))
    #expect(circuit.ask("b", now: Self.at(30)) == .send)
    circuit.ended("b", .abandoned, now: Self.at(31))
    #expect(circuit.isOpen && circuit.ask("d", now: Self.at(31)) == .send)
  }

  @Test func `a late answer to an earlier request closes the circuit, and a late failure does not prolong it`() {
    var circuit = Self.open()
    circuit.ended("d", .failed, now: Self.at(0.9))
    #expect(circuit.ask("a", now: Self.at(1)) == .send)
    circuit.ended("e", .failed, now: Self.at(1.5))
    #expect(circuit.ask("b", now: Self.at(2)) == .wait(until: Self.at(61)))
    circuit.ended("f", .answered, now: Self.at(2))
    #expect(!circuit.isOpen)
  }

  @Test func `a record that the endpoint puts off for hours does not hold the others for hours`() {
    var circuit = Self.open()
    #expect(circuit.ask("a", now: Self.at(1)) == .send)
    circuit.ended("a", .busy(until: Self.at(21_600)), now: Self.at(1))
    #expect(circuit.ask("b", now: Self.at(2)) == .wait(until: Self.at(61)))
    #expect(circuit.ask("a", now: Self.at(61)) == .wait(until: Self.at(71)), "another record is the next probe")
    #expect(circuit.ask("b", now: Self.at(61)) == .send)
  }

  /// A poisonous record fails or is put off each time, and every other one succeeds. Whatever the order, the circuit never
  /// stays open.
  @Test(arguments: 1...40 as ClosedRange<UInt64>, [true, false])
  func `one poisonous record cannot hold the circuit open`(seed: UInt64, fails: Bool) {
    var generator = SplitMix(seed: seed)
    var circuit = Self.open()
    var now = 0.0
    var sent = 0
    for _ in 0..<200 {
      now += Double(generator.next() % 1_000) / 200
      let record = generator.next() % 3 == 0 ? "poison" : "r\(generator.next() % 50)"
      guard circuit.ask(record, now: Self.at(now)) == .send else { continue }
      sent += 1
      let poison = fails ? Circuit.Result.failed : .busy(until: Self.at(now + 21_600))
      circuit.ended(record, record == "poison" ? poison : .answered, now: Self.at(now))
    }
    #expect(!circuit.isOpen && sent > 100, "seed \(seed)")
  }

  @Test func `handlers wait in place, and go on when the circuit closes`() async throws {
    let time = ManualClock()
    let gate = CircuitGate(clock: time.clock)
    for record in ["a", "b", "c"] { gate.ended(record, .failed) }
    let late = Task { try await gate.enter("x", until: time.clock.now.advanced(by: .milliseconds(500))) }
    await time.waitForSleepers(1)
    time.advance(by: .milliseconds(500))
    #expect(try await late.value?.elapsed == .seconds(1), "it has no more time, and comes again after the pause")
    let waiting = Task { try await gate.enter("y", until: time.clock.now.advanced(by: .seconds(20))) }
    await time.waitForSleepers(1)
    time.advance(by: .milliseconds(500))
    #expect(try await waiting.value == nil, "it is the probe")
    let others = (0..<3).map { number in
      Task { try await gate.enter("z\(number)", until: time.clock.now.advanced(by: .seconds(20))) }
    }
    await time.waitForSleepers(3)
    #expect(gate.status.isOpen && gate.status.waiting == 3)
    gate.ended("y", .answered)
    for other in others { #expect(try await other.value == nil) }
    #expect(!gate.status.isOpen && gate.status.waiting == 0)
  }

  @Test func `an open circuit names its last failure`() {
    let states = Mutex<[CircuitGate.Status]>([])
    let gate = CircuitGate(clock: ManualClock().clock) { status in states.withLock { $0.append(status) } }
    for (record, cause) in [("a", "answered 500"), ("b", "answered 503"), ("c", "no answer within 5s")] {
      gate.ended(record, .failed, because: cause)
    }
    gate.ended("a", .answered)
    #expect(states.withLock { $0.map(\.cause) } == ["no answer within 5s", nil])
  }

  @Test func `handlers that wait for a probe ask again when it has failed`() async throws {
    let time = ManualClock()
    let gate = CircuitGate(clock: time.clock)
    for record in ["a", "b", "c"] { gate.ended(record, .failed) }
    time.advance(by: .seconds(1))
    let latest = time.clock.now.advanced(by: .seconds(50))
    #expect(try await gate.enter("p", until: latest) == nil, "it is the probe")
    let waiting = Task { try await gate.enter("z", until: latest) }
    await time.waitForSleepers(1)
    #expect(time.nextDeadline == .seconds(51), "the probe may take a minute")
    gate.ended("p", .failed)
    for _ in 0..<100_000 where time.nextDeadline != .seconds(3) { await Task.yield() }
    #expect(time.nextDeadline == .seconds(3), "the next probe is due after the pause")
    time.advance(by: .seconds(2))
    #expect(try await waiting.value == nil)
  }
}

/// A generator with a seed.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
