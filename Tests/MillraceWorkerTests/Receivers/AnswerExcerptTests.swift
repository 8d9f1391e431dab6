// The excerpt of a receiver's answer, which records and pages show.

import KafkaClient
import MillraceRecords
import Testing

@testable import MillraceWorker

@Suite struct AnswerExcerptTests {
  @Test(
    arguments: [
      ("", ""), (" \r\n\t\u{2028}", ""), ("no such\r\n  customer\n", "no such customer"),
      ("a\u{1B}[31mred\u{0}\u{7F}", "a [31mred"), ("\u{202E}txet\u{2066} \u{FEFF}end", "txet end"),
      ("<script>alert(1)</script>", "<script>alert(1)</script>"), ("größer", "größer"),
    ])
  func `it is one line without control and format characters`(body: String, excerpt: String) {
    #expect(AnswerExcerpt.text(of: Array(body.utf8)) == excerpt)
  }

  @Test func `it has at most 200 bytes, and ends with a whole character`() {
    for (body, count) in [("x", 200), ("ü", 100), ("😀", 50), ("a b ", 100)] {
      for extra in [0, 1, 1_000_000] {
        let text = AnswerExcerpt.text(of: Array(String(repeating: body, count: count + extra).utf8))
        #expect(text.utf8.count <= AnswerExcerpt.maximumBytes && text.utf8.count > AnswerExcerpt.maximumBytes - 4)
        #expect(!text.contains("\u{FFFD}"))
      }
    }
    let exact = String(repeating: "x", count: 199)
    #expect(AnswerExcerpt.text(exact + "y") == exact + "y" && AnswerExcerpt.text(exact + "ü") == exact)
    #expect(AnswerExcerpt.text(exact + " y") == exact)
  }

  @Test func `invalid UTF-8 is replaced`() {
    #expect(AnswerExcerpt.text(of: [0x61, 0xFF, 0x62]) == "a\u{FFFD}b")
  }

  @Test func `what another program wrote into the header has the same bounds`() {
    var history = DeliveryHistory(
      .init(topic: "t", partition: 0, offset: 0, timestamp: 0, key: nil, value: nil, headers: []))
    #expect(history.lastAnswer == nil && history.headers.allSatisfy { $0.name != "millrace-answer" })
    history.answer = "a\u{1B}b" + String(repeating: "x", count: 1_000)
    #expect(
      history.lastAnswer?.utf8.count == AnswerExcerpt.maximumBytes && history.lastAnswer?.hasPrefix("a b") == true)
    history.answer = "\u{1B}"
    #expect(history.lastAnswer == nil)
  }
}
