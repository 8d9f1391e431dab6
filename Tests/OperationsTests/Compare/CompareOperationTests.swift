import AppStore
import AppStoreSigning
import Forward
import KafkaClient
import MillraceCore
import Testing

@testable import Operations
import MillraceRecords

@Suite(.timeLimit(.minutes(15))) struct CompareOperationTests {
  @Test func `the notifications of a receiver are compared with those in the topics`() async throws {
    let fixture = try Fixture()
    let cluster = try TestCluster(fixture.catalog)
    let refund = try fixture.sample(.refund)
    let renewal = try fixture.sample(.didRenew, seed: 2)
    try await cluster.write([
      try await fixture.record(v2: refund).producerRecord, try await fixture.record(v2: renewal).producerRecord,
    ])
    let received = [try ReceivedNotification(line: refund.body)]
    let all = CompareOperation(cluster.configuration, catalog: fixture.catalog, receiver: nil)
    let comparison = try await all.compare(received, in: CompareOperation.Window())
    #expect(comparison.differences.map(\.kind) == [.missing])
    #expect(comparison.differences.first?.kept?.type == "DID_RENEW")
    var settings = ForwardSettings()
    settings.families = ["refunds"]
    let own = CompareOperation(cluster.configuration, catalog: fixture.catalog, receiver: settings)
    #expect(try await own.compare(received, in: CompareOperation.Window()).isEqual)
    settings.families = []
    settings.types = ["REFUND"]
    let typed = CompareOperation(cluster.configuration, catalog: fixture.catalog, receiver: settings)
    #expect(try await typed.compare(received, in: CompareOperation.Window()).isEqual)
    let empty = try await all.compare([], in: CompareOperation.Window(until: Timestamp(millisecondsSince1970: 1)))
    #expect(empty.kept == 0 && empty.isEqual)
  }
}
