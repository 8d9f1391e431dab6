// Table tests of how payloads are shown.

import AppStore
import AppStoreSigning
import Testing

@testable import Operations

@Suite("Transactions and subscriptions as text")
struct PresentationTests {
  private let fixture: APIFixture

  init() throws { fixture = try APIFixture() }

  @Test("the most significant fact determines the state of a transaction")
  func states() {
    let now = APIFixture.now
    let table: [(TransactionState, (inout JWSTransactionDecodedPayload) -> Void)] = [
      (.current, { _ in }),
      (.expired, { $0.expiresDate = now }),
      (.bought, { $0.expiresDate = nil }),
      (.upgraded, { $0.isUpgraded = true }),
      (
        .revoked,
        {
          $0.isUpgraded = true
          $0.revocationDate = now
        }
      ),
    ]
    for (state, change) in table {
      #expect(TransactionState(fixture.transaction("1", change), at: now) == state)
    }
  }

  @Test("the text for the next period")
  func next() {
    let table: [(String, (inout JWSRenewalInfoDecodedPayload) -> Void)] = [
      ("renews for 9.99 EUR", { _ in }),
      ("renews to com.example.app.yearly for 9.99 EUR", { $0.autoRenewProductId = "com.example.app.yearly" }),
      ("ends", { $0.autoRenewStatus = .off }),
      (
        "billing retry, grace until 2026-01-01T00:00:00Z, renews for 9.99 EUR",
        {
          $0.isInBillingRetryPeriod = true
          $0.gracePeriodExpiresDate = APIFixture.now
        }
      ),
      (
        "ended: the customer cancelled",
        {
          $0.autoRenewStatus = .off
          $0.expirationIntent = .customerCancelled
        }
      ),
      (
        "renews for 9.99 EUR, price increase: not answered yet",
        { $0.priceIncreaseStatus = .customerHasNotResponded }
      ),
    ]
    for (text, change) in table {
      #expect(StatusTable.next(fixture.renewal(change), after: fixture.transaction("1")) == text)
    }
  }

  @Test("a sheet shows every field of a payload, including unknown and malformed ones")
  func complete() {
    var transaction = fixture.transaction("400002")
    for field in JWSTransactionDecodedPayload.documentedFields where field.value(in: transaction) == nil {
      transaction.json[field.name] = .string("text of \(field.name)")
    }
    transaction.json["unknown"] = "text of unknown"
    transaction.json["price"] = "text of price"
    let text = FactSheet.transaction(transaction, at: APIFixture.now).lines(usesColor: false).joined(separator: "\n")
    for member in transaction.json.members {
      guard case .string(let value) = member.value, value != fixture.fixture.app.bundleId else { continue }
      let shown = member.key == "transactionReason" ? value.lowercased() : value
      #expect(text.contains(shown) || member.key == "inAppOwnershipType" || member.key == "currency", "\(member.key)")
    }
  }

  @Test("fractions of a price")
  func percentages() {
    let table: [(Int64, String)] = [(100_000, "100 %"), (33_300, "33.3 %"), (15, "0.015 %"), (0, "0 %")]
    for (milliunits, text) in table { #expect(HumanText.percentage(milliunits: milliunits) == text) }
  }

  @Test("a sheet without facts has no lines, and groups are separated")
  func sheet() {
    var sheet = FactSheet()
    #expect(sheet.lines(usesColor: false).isEmpty)
    sheet.add("a", "1")
    sheet.beginGroup()
    sheet.add("absent", nil)
    sheet.beginGroup()
    sheet.add("long", "2", .red)
    #expect(sheet.lines(usesColor: false) == ["a     1", "", "long  2"])
    #expect(sheet.lines(usesColor: true).last == "\u{1B}[2mlong\u{1B}[0m  \u{1B}[31m2\u{1B}[0m")
  }

  @Test("the flags of a history become its query")
  func filter() throws {
    var filter = HistoryFilter()
    filter.from = StartArgument("2026-01-01")
    filter.until = TimeArgument("2026-01-01T00:00:01Z")
    filter.types = HistoryFilter.ProductKind.allCases
    filter.revoked = false
    let request = try filter.request(at: APIFixture.now)
    #expect(request.startDate == APIFixture.now && request.endDate == APIFixture.now + .seconds(1))
    #expect(Set(request.productTypes) == Set(TransactionHistoryRequest.ProductType.allKnown))
    #expect(request.violations().isEmpty && request.sort == nil)
    filter.until = TimeArgument("2025-12-31")
    let error = #expect(throws: OperationError.self) { try filter.request(at: APIFixture.now) }
    #expect(error?.place == "--until" && error?.kind == .usage)
  }

  @Test("every subscription status has a name on the command line")
  func names() {
    #expect(Set(SubscriptionStatusName.allCases.map(\.status)) == Set(Status.allKnown))
  }
}
