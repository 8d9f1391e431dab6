import MillraceCore
import Testing

@testable import Ingress

@Suite struct IngressTimesTests {
  private func times(_ change: (inout MillraceConfiguration) -> Void) throws -> IngressTimes {
    var configuration = MillraceConfiguration()
    change(&configuration)
    return try IngressTimes(configuration)
  }

  @Test func `Kafka's deadline counts from the start of the request, whatever the body and OCSP take`() throws {
    for enabled in [false, true] {
      let configured = try times {
        $0.ingress.deadline = .seconds(10)
        $0.ingress.bodyTimeout = .seconds(4)
        $0.trust.revocation.enabled = enabled
        $0.trust.revocation.timeout = .seconds(2)
      }
      #expect(configured.answer == .milliseconds(9250))
      #expect(configured.kafka == .milliseconds(9250))
      let start = ContinuousClock.now
      #expect(configured.kafkaDeadline(from: start) == start + .milliseconds(9250))
      let earlier = start - .seconds(4)
      #expect(configured.kafkaDeadline(from: earlier) == earlier + .milliseconds(9250))
    }
  }

  @Test func `librdkafka keeps a record longer than the request, so an outage causes no new producer epoch`() throws {
    let configured = try times { _ in }
    #expect(configured.delivery > .seconds(60))
    #expect(configured.delivery > configured.kafka)
  }

  @Test func `a message timeout in the configuration takes effect`() throws {
    let short = try times { $0.kafka.properties["message.timeout.ms"] = "700" }
    #expect(short.kafka == .milliseconds(700))
    #expect(short.delivery == .milliseconds(700))
    let long = try times { $0.kafka.properties["delivery.timeout.ms"] = "300000" }
    #expect(long.kafka == .milliseconds(9250))
    #expect(long.delivery == .seconds(300))
  }

  @Test func `the error for a deadline that leaves no time for Kafka names the keys`() throws {
    let error = #expect(throws: MillraceError.self) {
      try times {
        $0.ingress.deadline = .seconds(5)
        $0.ingress.bodyTimeout = .seconds(5)
      }
    }
    #expect(error?.description.contains("ingress.deadline") == true)
    #expect(error?.description.contains("ingress.bodyTimeout") == true)
  }
}
