import AppStore
import Testing

@testable import AppStoreSimulator

@Suite struct RequestJournalTests {
  private func entry(_ number: Int, status: Int? = 200) -> RequestJournal.Entry {
    RequestJournal.Entry(
      time: .newYear, environment: .production, endpoint: .lookUpOrderId, path: "/\(number)", status: status)
  }

  @Test func `the newest requests are kept in order, and all of them are counted`() {
    var journal = RequestJournal(capacity: 3)
    for number in 0..<8 { journal.record(entry(number, status: number == 7 ? nil : 200)) }
    #expect(journal.recent.map(\.path) == ["/5", "/6", "/7"])
    #expect(journal.answers[.lookUpOrderId]?.byStatus == [200: 7])
    #expect(journal.answers[.lookUpOrderId]?.withoutAnswer == 1)
  }

  @Test func `breaches are all counted, and a few are shown`() {
    var journal = RequestJournal()
    for number in 0..<9 { journal.breach(.invalidRequest, .lookUpOrderId, "\(number)", at: .newYear) }
    #expect(journal.breaches[.invalidRequest]?.count == 9)
    #expect(journal.breaches[.invalidRequest]?.examples.map(\.detail) == ["0", "1", "2", "3", "4"])
  }
}
