import AppStore
import MillraceWorker
import Testing

@testable import Consumption

@Suite struct ConsumptionAnswerTests {
  private func question(
    _ type: ProductType, _ version: ConsumptionQuestion.Version = .v2
  ) -> ConsumptionQuestion {
    ConsumptionQuestion(
      notificationId: "n", version: version, bundleId: "com.example.app", environment: .production,
      transactionId: "1", originalTransactionId: "1", productId: "coins", productType: type,
      appAccountToken: "0f9c6f0e-6f39-4a0b-9df4-3a6a0b3a2c11", reason: .unintendedPurchase,
      deadline: ConsumptionDeadline(signedDate: nil, receivedAt: Timestamp(millisecondsSince1970: 0)))
  }

  private func request(_ answer: String, _ type: ProductType = .consumable) throws -> String {
    switch try ConsumptionAnswer(parsing: Array(answer.utf8)).request(for: question(type)) {
    case .success(let request): String(decoding: request.json.serialized(), as: UTF8.self)
    case .failure(let fault): "broken: \(fault)"
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var answer: String
    var type: ProductType
    /// The request to Apple, or nil if nothing may be sent.
    var sent: String?
    var testDescription: String { "\(type): \(answer)" }
  }

  /// Apple's page `ConsumptionRequest`, rule by rule.
  static let cases = [
    Case(
      answer: #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}"#,
      type: .consumable,
      sent: #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED"}"#),
    Case(
      answer:
        #"{"customerConsented":true,"deliveryStatus":"UNDELIVERED_OTHER","sampleContentProvided":false,"refundPreference":"GRANT_FULL"}"#,
      type: .consumable,
      sent:
        #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"UNDELIVERED_OTHER","refundPreference":"GRANT_FULL","consumptionPercentage":0}"#
    ),
    Case(
      answer: #"{"customerConsented":true,"deliveryStatus":"UNDELIVERED_OTHER","sampleContentProvided":false}"#,
      type: .autoRenewableSubscription,
      sent: #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"UNDELIVERED_OTHER"}"#),
    Case(
      answer:
        #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"consumptionPercentage":25000,"refundPreference":"GRANT_PRORATED"}"#,
      type: .nonRenewingSubscription,
      sent:
        #"{"customerConsented":true,"sampleContentProvided":true,"deliveryStatus":"DELIVERED","consumptionPercentage":25000,"refundPreference":"GRANT_PRORATED"}"#
    ),
    Case(
      answer:
        #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"refundPreference":"GRANT_PRORATED"}"#,
      type: .autoRenewableSubscription,
      sent:
        #"{"customerConsented":true,"sampleContentProvided":true,"deliveryStatus":"DELIVERED","refundPreference":"GRANT_PRORATED"}"#
    ),
    Case(answer: #"{"deliveryStatus":"DELIVERED","sampleContentProvided":true}"#, type: .consumable),
    Case(answer: #"{"customerConsented":true,"sampleContentProvided":true}"#, type: .consumable),
    Case(answer: #"{"customerConsented":true,"deliveryStatus":"DELIVERED"}"#, type: .consumable),
    Case(
      answer: #"{"customerConsented":true,"deliveryStatus":"LOST","sampleContentProvided":true}"#, type: .consumable),
    Case(
      answer: #"{"customerConsented":"yes","deliveryStatus":"DELIVERED","sampleContentProvided":true}"#,
      type: .consumable),
    Case(
      answer:
        #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"consumptionPercentage":100001}"#,
      type: .consumable),
    Case(
      answer:
        #"{"customerConsented":true,"deliveryStatus":"UNDELIVERED_OTHER","sampleContentProvided":true,"consumptionPercentage":1}"#,
      type: .consumable),
    Case(
      answer:
        #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"consumptionPercentage":1}"#,
      type: .autoRenewableSubscription),
    Case(
      answer:
        #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"consumptionPercentage":0,"refundPreference":"GRANT_PRORATED"}"#,
      type: .consumable),
    Case(
      answer:
        #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"consumptionPercentage":100000,"refundPreference":"GRANT_PRORATED"}"#,
      type: .nonConsumable),
    Case(
      answer:
        #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"refundPreference":"GRANT_PRORATED"}"#,
      type: .consumable),
  ]

  @Test(arguments: cases)
  func `an answer becomes a valid request, or no request`(_ each: Case) throws {
    let found = try request(each.answer, each.type)
    if let sent = each.sent { #expect(found == sent) } else { #expect(found.hasPrefix("broken: ")) }
  }

  @Test func `version 1 sends undeclared for everything that the team does not provide, platform included`() throws {
    func sent(_ answer: String) throws -> ConsumptionRequestV1 {
      switch try ConsumptionAnswer(parsing: Array(answer.utf8)).request(for: question(.consumable, .v1)) {
      case .success(.v1(let request)): return request
      case let other:
        Issue.record("\(other)")
        return ConsumptionRequestV1(json: [:])
      }
    }
    let least = #""customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true"#
    let request = try sent("{\(least)}")
    #expect(request.platform == .undeclared && request.consumptionStatus == .undeclared)
    #expect(request.accountTenure == .undeclared && request.playTime == .undeclared)
    #expect(request.lifetimeDollarsPurchased == .undeclared && request.lifetimeDollarsRefunded == .undeclared)
    #expect(request.userStatus == .undeclared && request.refundPreference == .undeclared)
    #expect(try sent("{\(least),\"v1\":{\"platform\":1}}").platform == .apple)
  }

  @Test func `a problem names fields and rules but no value of a customer`() throws {
    let answer = try ConsumptionAnswer(
      parsing: Array(
        #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"v1":{"appAccountToken":"jane@example.com"}}"#
          .utf8))
    guard case .failure(let fault) = answer.request(for: question(.consumable, .v1)) else {
      Issue.record("an account token that is not a UUID was accepted")
      return
    }
    #expect(!"\(fault)".contains("jane"))
  }

  @Test func `no problem names a value of a purchase`() throws {
    for text in [#""consumptionPercentage":424242"#, #""refundPreference":"JANE""#] {
      let answer = try ConsumptionAnswer(
        parsing: Array(
          #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,\#(text)}"#.utf8))
      guard case .failure(let fault) = answer.request(for: question(.consumable)) else {
        Issue.record("\(text) was accepted")
        continue
      }
      #expect(!"\(fault)".contains("424242") && !"\(fault)".contains("JANE"))
    }
  }

  @Test(arguments: [
    (#""deliveryStatus":"DELIVERED","consumptionPercentage":100000,"refundPreference":"DECLINE""#, [0, 3, 2]),
    (#""deliveryStatus":"DELIVERED","consumptionPercentage":1,"refundPreference":"GRANT_PRORATED""#, [0, 2, 1]),
    (#""deliveryStatus":"DELIVERED","consumptionPercentage":0,"refundPreference":"GRANT_FULL""#, [0, 1, 1]),
    (#""deliveryStatus":"UNDELIVERED_QUALITY_ISSUE""#, [1, 0, 0]),
    (#""deliveryStatus":"UNDELIVERED_WRONG_ITEM""#, [2, 0, 0]),
    (#""deliveryStatus":"UNDELIVERED_SERVER_OUTAGE""#, [3, 0, 0]),
    (#""deliveryStatus":"UNDELIVERED_OTHER""#, [5, 0, 0]),
    (#""deliveryStatus":"DELIVERED","v1":{"refundPreference":3,"consumptionStatus":1}"#, [0, 1, 3]),
  ])
  func `the older endpoint receives the same answer with its own codes`(_ fields: String, _ numbers: [Int]) throws {
    let answer = try ConsumptionAnswer(
      parsing: Array("{\"customerConsented\":true,\"sampleContentProvided\":false,\(fields)}".utf8))
    guard case .success(.v1(let request)) = answer.request(for: question(.consumable, .v1)) else {
      Issue.record("\(answer.request(for: question(.consumable, .v1)))")
      return
    }
    #expect(request.violations().isEmpty)
    #expect(
      [request.deliveryStatus?.rawValue, request.consumptionStatus?.rawValue, request.refundPreference?.rawValue]
        == numbers.map(Optional.some))
    #expect(request.appAccountToken == "0f9c6f0e-6f39-4a0b-9df4-3a6a0b3a2c11")
  }

  /// Apple's page `ConsumptionRequestV1`, field by field. Unlisted values are neither sent nor quoted.
  @Test(arguments: [
    #""accountTenure":8"#, #""playTime":8"#, #""lifetimeDollarsRefunded":8"#, #""lifetimeDollarsPurchased":8"#,
    #""userStatus":5"#, #""consumptionStatus":4"#, #""platform":3"#, #""deliveryStatus":9"#,
    #""refundPreference":4"#, #""appAccountToken":"jane"#, #""sampleContentProvided":"jane"#,
    #""accountTenure":"jane"#, #""customerConsented":true"#, #""email":"jane"#,
  ])
  func `the older endpoint receives no value that its page does not list`(_ field: String) throws {
    let field = field.contains("jane") ? field + "\"" : field
    let answer = try ConsumptionAnswer(
      parsing: Array(
        #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"v1":{\#(field)}}"#.utf8))
    guard case .failure(let fault) = answer.request(for: question(.consumable, .v1)) else {
      Issue.record("\(field) was accepted")
      return
    }
    #expect(!fault.rules.isEmpty && !"\(fault)".contains("jane"))
    // The newer endpoint does not receive it at all.
    #expect(throws: Never.self) {
      if answer.oddFields.isEmpty { _ = try answer.request(for: question(.consumable)).get() }
    }
  }

  @Test(arguments: [
    #"{"deliveryStatus":"DELIVERED","sampleContentProvided":true}"#,
    #"{"customerConsented":true,"sampleContentProvided":true}"#,
    #"{"customerConsented":true,"deliveryStatus":"DELIVERED"}"#,
    #"{"customerConsented":true,"deliveryStatus":"LOST","sampleContentProvided":true}"#,
    #"{"deliveryStatus":"DELIVERED","sampleContentProvided":true,"v1":{"customerConsented":true}}"#,
    #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"consumptionPercentage":-1}"#,
    #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"consumptionPercentage":100001}"#,
  ])
  func `the older endpoint also requires consent, delivery status and samples`(_ text: String) throws {
    let answer = try ConsumptionAnswer(parsing: Array(text.utf8))
    guard case .failure = answer.request(for: question(.consumable, .v1)) else {
      Issue.record("accepted")
      return
    }
  }
}
