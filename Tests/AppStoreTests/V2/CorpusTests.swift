// Real and sample payloads next to the checkout. The types have to know every field and read it unchanged.

import AppStore
import TestEnvironment
import Testing

@Suite(.enabled(if: SharedMaterial.isPresent, "needs the corpus next to the checkout"))
struct CorpusTests {
  @Test func everySampleOfApplesLibrariesReadsWithEachFieldEqual() throws {
    let samples = try CorpusItem.all("sample-apple-").filter { $0.kind == "decoded_sample" }
    #expect(samples.count >= 9)
    for sample in samples {
      let body = try #require(sample.body)
      switch sample.id {
      case "sample-apple-signedTransaction", "sample-apple-signedTransactionWithRevocation":
        try check(JWSTransactionDecodedPayload(json: body), sample.id)
      case "sample-apple-signedRenewalInfo": try check(JWSRenewalInfoDecodedPayload(json: body), sample.id)
      case "sample-apple-appTransaction": try check(AppTransaction(json: body), sample.id)
      default:
        let payload = ResponseBodyV2DecodedPayload(json: body)
        try check(payload, sample.id)
        expectFacts(of: payload, in: sample)
      }
    }
  }

  @Test func everyNotificationThatAppleSignedReadsWithoutAnOddField() throws {
    let items = try CorpusItem.all("v2-")
    #expect(items.count >= 13)
    for item in items {
      let payload = try ResponseBodyV2DecodedPayload(parsing: try payloadBytes(#require(item.jws)))
      try check(payload, item.id)
      expectFacts(of: payload, in: item)
      if let inner = payload.data?.signedTransactionInfo {
        try check(JWSTransactionDecodedPayload(parsing: payloadBytes(inner)), item.id)
      }
      if let inner = payload.data?.signedRenewalInfo {
        try check(JWSRenewalInfoDecodedPayload(parsing: payloadBytes(inner)), item.id)
      }
    }
  }

  @Test func xcodesDatesWithFractionsRead() throws {
    let item = try #require(try CorpusItem.all("neg-xcode-signed-transaction-apple").first)
    let payload = try JWSTransactionDecodedPayload(parsing: payloadBytes(#require(item.jws)))
    #expect(payload.purchaseDate != nil && payload.expiresDate != nil && payload.environment == .xcode)
    #expect(payload.oddFields.isEmpty)
  }

  private func payloadBytes(_ jws: String) throws -> [UInt8] {
    let segments = jws.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    try #require(segments.count == 3)
    return try #require(Base64.decodeURL(segments[1]))
  }

  private func expectFacts(of payload: ResponseBodyV2DecodedPayload, in item: CorpusItem) {
    #expect(payload.notificationType == item.expected("notificationType"), "\(item.id)")
    #expect(payload.subtype == item.expected("subtype"), "\(item.id)")
    #expect(payload.notificationUUID == item.expected("notificationUUID"), "\(item.id)")
    #expect(payload.bundleId == item.expected("bundleId"), "\(item.id)")
    #expect(payload.environment == item.expected("environment"), "\(item.id)")
    #expect(payload.signedDate == item.expected("signedDate"), "\(item.id)")
  }

  /// Checks that no field is unknown or malformed, that each is read unchanged, and that encoding returns the same
  /// bytes.
  private func check<Object: AppStoreObject>(_ object: Object, _ id: String) throws {
    #expect(object.oddFields.isEmpty, "\(id)")
    #expect(unknownFields(of: object).isEmpty, "\(id)")
    for field in Object.documentedFields { #expect(field.value(in: object) == object.json[field.name], "\(id)") }
    #expect(try Object(parsing: object.serialized()) == object, "\(id)")
  }
}

/// The paths of undocumented members, nested objects included.
func unknownFields<Object: AppStoreObject>(of object: Object) -> [String] {
  func nested(_ part: (any AppStoreObject)?) -> [String] { part.map { unknownFields(of: $0) } ?? [] }
  let known = Set(Object.documentedFields.map(\.name))
  var unknown = object.json.members.map(\.key).filter { !known.contains($0) }.map { "\(Object.self).\($0)" }
  switch object {
  case let payload as ResponseBodyV2DecodedPayload:
    unknown += nested(payload.data) + nested(payload.summary) + nested(payload.externalPurchaseToken)
    unknown += nested(payload.appData)
  case let transaction as JWSTransactionDecodedPayload:
    unknown += nested(transaction.advancedCommerceInfo) + nested(transaction.commitmentInfo)
  case let renewal as JWSRenewalInfoDecodedPayload:
    unknown += nested(renewal.advancedCommerceInfo) + nested(renewal.commitmentInfo)
  case let info as AdvancedCommerceTransactionInfo:
    unknown += nested(info.descriptors) + (info.items ?? []).flatMap { unknownFields(of: $0) }
  case let info as AdvancedCommerceRenewalInfo:
    unknown += nested(info.descriptors) + (info.items ?? []).flatMap { unknownFields(of: $0) }
  case let item as AdvancedCommerceTransactionItem:
    unknown += nested(item.offer) + (item.refunds ?? []).flatMap { unknownFields(of: $0) }
  case let item as AdvancedCommerceRenewalItem:
    unknown += nested(item.offer) + nested(item.priceIncreaseInfo)
  case let body as ResponseBodyV1:
    unknown += nested(body.unified_receipt) + (body.pending_renewal_info ?? []).flatMap { unknownFields(of: $0) }
    unknown += (body.latest_receipt_info?.rows ?? []).flatMap { unknownFields(of: $0) }
    unknown += (body.latest_expired_receipt_info?.rows ?? []).flatMap { unknownFields(of: $0) }
  case let receipt as UnifiedReceipt:
    unknown += (receipt.latest_receipt_info ?? []).flatMap { unknownFields(of: $0) }
    unknown += (receipt.pending_renewal_info ?? []).flatMap { unknownFields(of: $0) }
  default: break
  }
  return unknown
}
