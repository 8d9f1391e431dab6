// Version 1 bodies next to the checkout.

import AppStore
import TestEnvironment
import Testing

@Suite(.enabled(if: SharedMaterial.isPresent, "needs the corpus next to the checkout"))
struct CorpusV1Tests {
  @Test func everyBodyReadsAsExpectedAndLosesItsPasswordAlone() throws {
    let items = try CorpusItem.all("v1-")
    #expect(items.count >= 5)
    for item in items {
      let posted = try #require(item.body).serialized()
      #expect(Int64(posted.count) == item.expected("compactBodyLength"), "\(item.id)")
      let envelope = try ResponseBodyV1.Envelope(parsing: posted)
      let hadPassword = item.body?["password"] != nil
      #expect(envelope.passwords.count == (hadPassword ? 1 : 0), "\(item.id)")
      #expect(envelope.passwords.allSatisfy { $0.isEqual(toUTF8: Array("DUMMY_SHARED_SECRET".utf8)) }, "\(item.id)")
      var dropped = try #require(item.body)
      dropped["password"] = nil
      #expect(envelope.bytes == dropped.serialized(), "\(item.id)")
      try expectFacts(of: envelope.body, in: item)
    }
  }

  private func expectFacts(of body: ResponseBodyV1, in item: CorpusItem) throws {
    #expect(body.oddFields.isEmpty, "\(item.id): \(body.oddFields)")
    #expect(unknownFields(of: body).isEmpty, "\(item.id): \(unknownFields(of: body))")
    #expect(body.notification_type == item.expected("notificationType"), "\(item.id)")
    #expect(body.environment == item.expected("environment"), "\(item.id)")
    #expect(body.appStoreEnvironment == item.expected("environmentNormalised"), "\(item.id)")
    #expect(body.bundleId == item.expected("bundleId"), "\(item.id)")
    #expect(body.auto_renew_product_id == item.expected("autoRenewProductId"), "\(item.id)")
    #expect(body.auto_renew_status == item.expected("autoRenewStatus"), "\(item.id)")
    #expect(body.unified_receipt?.environment == item.expected("unifiedEnvironment"), "\(item.id)")
    #expect(body.unified_receipt?.status == item.expected("unifiedStatus"), "\(item.id)")
    #expect(
      body.unified_receipt?.latest_receipt_info?.count ?? 0 == item.expected("latestReceiptInfoCount"), "\(item.id)")
    #expect(
      body.unified_receipt?.pending_renewal_info?.count ?? 0 == item.expected("pendingRenewalInfoCount"), "\(item.id)")
    #expect(body.orderingKey == item.expected("originalTransactionId"), "\(item.id)")
    #expect(try ResponseBodyV1(parsing: body.serialized()) == body, "\(item.id)")
  }
}
