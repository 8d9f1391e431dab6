import Synchronization
import Testing

@testable import KafkaClient

@Suite struct ClientObserverTests {
  private final class Errors: Sendable {
    let all = Mutex<[KafkaError]>([])
  }

  private func reported(_ code: KafkaError.Code, group: String?) -> [KafkaError] {
    let errors = Errors()
    ClientObserver(error: { error in errors.all.withLock { $0.append(error) } }).naming(group: group).error(
      KafkaError(code: code, operation: "client", reason: "refused"))
    return errors.all.withLock { $0 }
  }

  @Test func `a refusal to join a group names the group`() {
    #expect(
      reported(.groupAuthorizationFailed, group: "millrace.refunds").map(\.operation) == [
        "join the group millrace.refunds"
      ])
    #expect(reported(.topicAuthorizationFailed, group: "millrace.refunds").map(\.operation) == ["client"])
  }

  @Test func `a consumer that joins no group does not report its refusal`() {
    #expect(reported(.groupAuthorizationFailed, group: nil).isEmpty)
    #expect(reported(.topicAuthorizationFailed, group: nil).map(\.operation) == ["client"])
  }
}
