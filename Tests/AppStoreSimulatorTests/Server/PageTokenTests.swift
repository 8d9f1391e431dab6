import AppStore
import AppStoreSigning
import Testing

@testable import AppStoreSimulator

@Suite struct PageTokenTests {
  private let tokens = PageTokens(seed: 7)
  private let position = PagePosition(moment: .newYear, sequence: 2_000_000_123_456_789)

  private func refusal(
    _ token: String, query: String = "q", lifetime: Duration? = nil, now: Timestamp = .newYear
  ) -> PageTokens.Refusal? {
    do throws(PageTokens.Refusal) {
      _ = try tokens.position(token, query: query, lifetime: lifetime, now: now)
      return nil
    } catch {
      return error
    }
  }

  @Test func `a token decodes to its position`() throws {
    let token = tokens.token(after: position, query: "q", now: .newYear)
    #expect(try tokens.position(token, query: "q", lifetime: nil, now: .newYear) == position)
    #expect(try PageTokens(seed: 7).position(token, query: "q", lifetime: nil, now: .newYear) == position)
  }

  @Test(arguments: [PagePosition(moment: Timestamp(millisecondsSince1970: .min), sequence: .min)])
  func `the limits of the range survive`(position: PagePosition) throws {
    let token = tokens.token(after: position, query: "", now: .newYear)
    #expect(try tokens.position(token, query: "", lifetime: nil, now: .newYear) == position)
  }

  @Test func `a token is bound to its query, its time and its server`() {
    let token = tokens.token(after: position, query: "q", now: .newYear)
    #expect(refusal(token, query: "other") == .otherQuery)
    #expect(refusal(token, lifetime: .seconds(60), now: .newYear + .seconds(59)) == nil)
    #expect(refusal(token, lifetime: .seconds(60), now: .newYear + .seconds(60)) == .expired)
    #expect(refusal(PageTokens(seed: 8).token(after: position, query: "q", now: .newYear)) == .notOurs)
    for wrong in ["", "abc", token + "A", String(token.dropLast()), "é", token.replacing("A", with: "B") + "="] {
      #expect(refusal(wrong) == .notOurs)
    }
  }

  @Test func `any changed character is refused`() {
    let token = Array(tokens.token(after: position, query: "q", now: .newYear).utf8)
    for index in token.indices {
      var changed = token
      changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(refusal(String(decoding: changed, as: UTF8.self)) == .notOurs, "character \(index)")
    }
  }

  @Test(arguments: [0, 1, 19, 20, 21, 40, 41, 100], [false, true])
  func `pages have twenty items, and together every item once`(count: Int, descending: Bool) {
    let ascending = (0..<count).map { PagePosition(moment: .newYear + .seconds($0 / 3), sequence: Int64($0)) }
    let all = descending ? ascending.reversed() : ascending
    var seen: [PagePosition] = []
    var start: PagePosition?
    var hasMore = true
    while hasMore {
      let page = Page(of: all, after: start, descending: descending) { $0 }
      #expect(page.elements.count <= PageTokens.pageSize)
      seen += page.elements
      hasMore = page.hasMore
      start = page.end
      if seen.count > count { break }
    }
    #expect(seen == all)
    #expect(Page(of: all, after: start, descending: descending) { $0 }.elements.isEmpty)
  }

  @Test func `a stored end finds only later items`() {
    var list = (0..<5).map { PagePosition(moment: .newYear, sequence: $0) }
    let end = Page(of: list, after: nil) { $0 }.end
    list.append(PagePosition(moment: .newYear + .seconds(1), sequence: 0))
    #expect(Page(of: list, after: end) { $0 }.elements == [list[5]])
  }
}
