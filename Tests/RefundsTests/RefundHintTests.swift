import AppStore
import Testing

@testable import Refunds

@Suite struct RefundHintTests {
  private func hints(_ body: String, key: String = "100") throws -> [RefundHint] {
    RefundHint.all(in: try ResponseBodyV1(parsing: Array(body.utf8)), key: key)
  }

  private func row(_ id: String, of original: String = "100", bought: Int64 = 1, cancelled: Int64? = nil) -> String {
    let cancellation = cancelled.map { #","cancellation_date_ms":"\#($0)""# } ?? ""
    return #"""
      {"transaction_id":"\#(id)","original_transaction_id":"\#(original)","product_id":"p","purchase_date_ms":"\#(bought)"\#(cancellation)}
      """#
  }

  private func body(_ rows: String..., original: String? = "100") -> String {
    let own = original.map { #","original_transaction_id":"\#($0)""# } ?? ""
    return #"{"unified_receipt":{"latest_receipt_info":[\#(rows.joined(separator: ","))]}\#(own)}"#
  }

  @Test func `the row with the newest refund is looked up, regardless of its position`() throws {
    let found = try hints(
      body(row("1", cancelled: 50), row("2", bought: 9), row("3", cancelled: 70), row("4", cancelled: 60)))
    #expect(
      found == [RefundHint(transactionId: "3", cancelledAt: Timestamp(millisecondsSince1970: 70), productId: "p")])
  }

  @Test func `refunds with the same time are all looked up, each once`() throws {
    let found = try hints(body(row("2", cancelled: 70), row("1", cancelled: 70), row("2", cancelled: 70)))
    #expect(found.map(\.transactionId) == ["1", "2"])
  }

  @Test func `rows of other purchases have their own notifications`() throws {
    #expect(try hints(body(row("7", of: "700", cancelled: 99), row("1", cancelled: 50))).map(\.transactionId) == ["1"])
  }

  @Test func `without a refunded row the newest purchase is looked up`() throws {
    let found = try hints(body(row("1", bought: 5), row("2", bought: 8), row("3", bought: 2)))
    #expect(found.map(\.transactionId) == ["2"] && found.first?.cancelledAt == nil)
  }

  @Test func `a body with only the original transaction is looked up by it`() throws {
    #expect(try hints(body()).map(\.transactionId) == ["100"])
    #expect(
      try hints(#"{"original_transaction_id":"100","cancellation_date_ms":"8"}"#)
        == [RefundHint(transactionId: "100", cancelledAt: Timestamp(millisecondsSince1970: 8))])
  }

  @Test(arguments: ["{}", #"{"unified_receipt":{}}"#, #"{"unified_receipt":{"latest_receipt_info":[{}, 3]}}"#])
  func `a body without a transaction has no hint`(text: String) throws {
    #expect(try hints(text, key: "0f0f").isEmpty)
  }
}
