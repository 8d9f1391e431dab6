import AppStore
import Testing

struct ResponseBodyV1ValuesTests {
  @Test(
    arguments: [
      (["environment": "PROD"], "Production"), (["environment": "Sandbox"], "Sandbox"),
      (["environment": "Production"], "Production"), (["unified_receipt": ["environment": "Production"]], "Production"),
      (["environment": "Sandbox", "unified_receipt": ["environment": "Production"]], "Sandbox"),
      (["environment": "prod"], "prod"), ([:], nil),
    ] as [(JSONObject, String?)])
  func theEnvironmentReadsInTheWordsOfVersion2(json: JSONObject, environment: String?) {
    #expect(ResponseBodyV1(json: json).appStoreEnvironment?.rawValue == environment)
  }

  /// The same JSON with every text of digits as a number.
  private static func numeric(_ json: JSON) -> JSON {
    switch json {
    case .string(let text): Int64(text).map { .integer($0) } ?? json
    case .array(let items): .array(items.map(numeric))
    case .object(let object): .object(JSONObject(object.members.map { .init(key: $0.key, value: numeric($0.value)) }))
    default: json
    }
  }

  /// A case of a field-by-field comparison.
  private static func check<Object: AppStoreObject>(_ type: Object.Type, skipping skipped: Set<String> = []) {
    for field in Object.documentedFields where field.kind == .string && !skipped.contains(field.name) {
      for (value, text) in [
        (JSON.integer(150_000_000_000_001), "150000000000001"),
        (.number("18446744073709551616"), "18446744073709551616"),
        (.number("1.5e14"), "150000000000000"), (.number("-0"), "0"), (.bool(true), "true"), (.string("a"), "a"),
      ] {
        #expect(field.value(in: Object(json: [field.name: value])) == .string(text), "\(type).\(field.name)")
      }
      for value in [JSON.null, .array([]), .object([:]), .number("0.5")] {
        #expect(field.value(in: Object(json: [field.name: value])) == nil, "\(type).\(field.name)")
      }
    }
  }

  @Test func everyTextReadsFromTextOrNumber() {
    Self.check(ResponseBodyV1.self, skipping: ["notification_type"])
    Self.check(LatestReceiptInfo.self, skipping: ["in_app_ownership_type"])
    Self.check(PendingRenewalInfo.self)
    Self.check(UnifiedReceipt.self)
    #expect(UnifiedReceipt(json: ["status": "21007"]).status == 21_007)
    #expect(UnifiedReceipt(json: ["status": 0]).status == 0)
  }

  @Test func aBodyWithNumbersHasTheSameKeyAndDates() {
    let json = Self.body(
      [
        ["original_transaction_id": "150000000000777", "purchase_date_ms": "1764000000000"],
        [
          "original_transaction_id": "150000000000001", "purchase_date_ms": "1763000000000",
          "cancellation_date_ms": "1764000000001", "cancellation_reason": "1", "is_upgraded": "1",
        ],
      ])
    let (text, number) = (ResponseBodyV1(json: json), Self.numeric(.object(json)))
    let read = ResponseBodyV1(jsonValue: number)
    #expect(text.orderingKey == "150000000000001" && read?.orderingKey == text.orderingKey)
    #expect(read?.receiptRows.map(\.purchaseDate) == text.receiptRows.map(\.purchaseDate))
    #expect(read?.receiptRows.last?.cancellationReason == text.receiptRows.last?.cancellationReason)
    #expect(read?.receiptRows.last?.isUpgraded == true)
    // The body's own identifier comes first, and the row of another purchase does not replace it.
    let own = Self.body([["original_transaction_id": "150000000000777"]], own: .integer(150_000_000_000_001))
    #expect(ResponseBodyV1(json: own).orderingKey == "150000000000001")
    #expect(ResponseBodyV1(json: ["original_transaction_id": 150_000_000_000_001]).orderingKey == "150000000000001")
  }

  private static func row(_ id: String?, bought: Int? = nil, refunded: Int? = nil) -> JSON {
    var row = LatestReceiptInfo()
    row.original_transaction_id = id
    row.purchase_date_ms = bought.map(String.init)
    row.cancellation_date_ms = refunded.map(String.init)
    return row.jsonValue
  }

  private static func body(_ unified: [JSON], latest: JSON? = nil, expired: JSON? = nil, own: JSON? = nil) -> JSONObject
  {
    var json: JSONObject = ["unified_receipt": ["latest_receipt_info": .array(unified)]]
    json["latest_receipt_info"] = latest
    json["latest_expired_receipt_info"] = expired
    json["original_transaction_id"] = own
    return json
  }

  @Test(
    arguments: [
      (body([row("a", bought: 9)], own: "own"), "own", "the body's own comes first"),
      (body([row("a", bought: 9)], own: ""), "a", "an empty own is none"),
      (
        body([row("a", bought: 1), row("b", bought: 3), row("c", bought: 2)]), "b", "the newest purchase, rows unsorted"
      ),
      (
        body([row("a", bought: 9), row("b", bought: 1, refunded: 2), row("c", bought: 3, refunded: 1)]), "b",
        "the newest refund, whatever was bought later"
      ),
      (
        body([row("a", bought: 5)], latest: row("b", bought: 6), expired: row("c", bought: 4)), "b",
        "rows of all places"
      ),
      (body([row("a", bought: 5)], expired: .array([row("b"), row("c", bought: 6)])), "c", "an array of expired rows"),
      (body([], expired: row("c", bought: 4, refunded: 5)), "c", "an old body"),
      (body([row(nil, bought: 9), row("", bought: 8), row("a", bought: 1)]), "a", "rows without an id do not count"),
      (body([row("a"), row("b", bought: -5)]), "b", "a row without a date comes last"),
      (body([row("a"), row("b")]), "a", "of equal rows the first"),
      (body([row("a", bought: 3), row("b", bought: 3)]), "a", "of one date the first"),
      (body(["odd", row("a", bought: 3)]), "a", "a row that is none is left out"),
      (body([]), nil, "no row, no key"), ([:], nil, "nothing, no key"),
    ] as [(JSONObject, String?, String)])
  func theOrderingKeyIsThatOfWhatTheNotificationIsAbout(json: JSONObject, key: String?, why: String) {
    #expect(ResponseBodyV1(json: json).orderingKey == key, "\(why)")
  }

  @Test func flagsNumbersAndDatesReadFromTheirText() {
    var body = ResponseBodyV1(json: [
      "auto_renew_status": "false", "expiration_intent": "2", "cancellation_date_ms": "",
    ])
    #expect(body.autoRenewStatus == .off && body.expirationIntent == .billingError && body.cancellationDate == nil)
    #expect(body.oddFields.isEmpty)
    body.json = ["auto_renew_status": "1", "expiration_intent": 5, "auto_renew_status_change_date_ms": "17"]
    #expect(body.autoRenewStatus == .on && body.expirationIntent == .other)
    #expect(body.autoRenewStatusChangeDate == Timestamp(millisecondsSince1970: 17))

    let row = LatestReceiptInfo(json: [
      "purchase_date_ms": "5", "expires_date": "9", "cancellation_reason": "1", "is_trial_period": "true",
      "is_upgraded": "yes", "original_purchase_date_ms": "x", "is_in_intro_offer_period": "false",
    ])
    #expect(row.purchaseDate == Timestamp(millisecondsSince1970: 5) && row.originalPurchaseDate == nil)
    #expect(row.expiresDate == Timestamp(millisecondsSince1970: 9) && row.cancellationDate == nil)
    #expect(row.cancellationReason == .refundedDueToIssue && row.isTrialPeriod == true && row.isUpgraded == nil)
    #expect(row.isInIntroOfferPeriod == false)

    let renewal = PendingRenewalInfo(json: [
      "auto_renew_status": "1", "expiration_intent": "1", "grace_period_expires_date_ms": "3",
      "is_in_billing_retry_period": "0", "price_increase_status": "1",
    ])
    #expect(renewal.autoRenewStatus == .on && renewal.expirationIntent == .customerCancelled)
    #expect(renewal.gracePeriodExpiresDate == Timestamp(millisecondsSince1970: 3))
    #expect(renewal.isInBillingRetryPeriod == false)
    #expect(renewal.priceIncreaseStatus == .customerConsentedOrWasNotifiedWithoutNeedingConsent)
  }

  @Test func whatCameInTwoShapesGoesOutAsItCame() {
    var body = ResponseBodyV1(json: ["expiration_intent": "3", "latest_receipt_info": [["product_id": "p"]]])
    body.expiration_intent = body.expiration_intent
    body.latest_receipt_info = body.latest_receipt_info
    #expect(body.json == ["expiration_intent": "3", "latest_receipt_info": [["product_id": "p"]]])
    body.expiration_intent = FlexibleInteger(4)
    body.latest_receipt_info = ReceiptRows(LatestReceiptInfo(json: ["product_id": "q"]))
    #expect(body.json == ["expiration_intent": 4, "latest_receipt_info": ["product_id": "q"]])
  }
}
