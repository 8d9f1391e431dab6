import KafkaClient
import MillraceRecords
import Testing

@testable import Ingress

@Suite struct QuarantineGateTests {
  private func ids(_ prefix: String, _ count: Int) -> [String] { (0..<count).map { "\(prefix)\($0)" } }

  @Test func `unverified bodies use none of the allowance of genuine ones`() {
    var gate = QuarantineGate(perMinute: 2, at: .zero)
    let forged = ids("f", 5).map { gate.decide($0, size: 1, for: .unverified, at: .zero) }
    #expect(forged == [.copy, .copy, .overAllowance, .overAllowance, .overAllowance])
    let genuine = ids("g", 3).map { gate.decide($0, size: 1, for: .genuine, at: .zero) }
    #expect(genuine == [.copy, .copy, .overAllowance])
  }

  @Test func `a body that is posted again within an hour uses no allowance`() {
    var gate = QuarantineGate(perMinute: 2, at: .zero)
    let first = (0..<5).map { _ in gate.decide("a", size: 1, for: .genuine, at: .zero) }
    #expect(first == [.copy] + Array(repeating: .alreadyKept, count: 4))
    #expect(gate.decide("b", size: 1, for: .genuine, at: .zero) == .copy)
    #expect(gate.decide("a", size: 1, for: .genuine, at: .seconds(3599)) == .alreadyKept)
    #expect(gate.decide("a", size: 1, for: .genuine, at: .seconds(3600)) == .copy)
    #expect(gate.decide("a", size: 1, for: .genuine, at: .seconds(3601)) == .alreadyKept)
  }

  @Test func `a body whose copy failed is copied at the next post`() {
    var gate = QuarantineGate(perMinute: 9, at: .zero)
    #expect(gate.decide("a", size: 1, for: .unverified, at: .zero) == .copy)
    gate.forget("a", in: .unverified)
    #expect(gate.decide("a", size: 1, for: .unverified, at: .zero) == .copy)
  }

  @Test func `forgeries do not displace remembered genuine bodies, and their number is bounded`() {
    let count = RecentCopies.capacity + 10
    var gate = QuarantineGate(perMinute: 2 * count, at: .zero)
    #expect(gate.decide("genuine", size: 1, for: .genuine, at: .zero) == .copy)
    for id in ids("f", count) { #expect(gate.decide(id, size: 1, for: .unverified, at: .zero) == .copy) }
    #expect(gate.decide("genuine", size: 1, for: .genuine, at: .zero) == .alreadyKept)
    // The oldest are forgotten, the newest are not.
    #expect(gate.decide("f\(count - 1)", size: 1, for: .unverified, at: .zero) == .alreadyKept)
    #expect(gate.decide("f0", size: 1, for: .unverified, at: .zero) == .copy)
  }

  @Test func `bodies that only Apple or the holder of a secret can have made have their own partition`() {
    let genuine = Refusal.Reason.allCases.filter { reason in
      QuarantineRecord(value: [], version: .v2, reason: reason, receivedAt: nil).partition == .genuine
    }
    #expect(
      Set(genuine) == [.appNotConfigured, .environmentNotConfigured, .innerMismatch, .innerForged, .innerChain])
    let unknown = QuarantineRecord(value: [], version: .v2, reason: nil, receivedAt: nil)
    #expect(unknown.producerRecord(topic: "q").partition == 1)
    #expect(unknown.producerRecord(topic: "q", in: .genuine).partition == 0)
  }
}
