import Millrace
import Testing

@testable import Ingress

@Suite struct IngressTimesTests {
  private func times(_ change: (inout MillraceConfiguration) -> Void) throws -> IngressTimes {
    var configuration = MillraceConfiguration()
    change(&configuration)
    return try IngressTimes(configuration)
  }

  @Test func `body, Kafka and two questions about revocation stay inside the deadline together`() throws {
    for enabled in [false, true] {
      let configured = try times {
        $0.ingress.deadline = .seconds(10)
        $0.ingress.bodyTimeout = .seconds(4)
        $0.trust.revocation.enabled = enabled
        $0.trust.revocation.timeout = .seconds(2)
      }
      let total = configured.body + configured.kafka + (enabled ? .seconds(2) * 2 : .zero)
      #expect(total < .seconds(10))
      #expect(configured.kafka == (enabled ? .milliseconds(1750) : .milliseconds(5750)))
    }
  }

  @Test func `a shorter message timeout of the operator's is kept`() throws {
    #expect(try times { $0.kafka.properties["message.timeout.ms"] = "700" }.kafka == .milliseconds(700))
  }

  @Test func `a deadline that leaves Kafka nothing names the keys`() throws {
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
