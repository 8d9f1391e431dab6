import AppStore
import Foundation
import TestEnvironment
import Testing

/// An enumeration as a test argument.
struct Enumeration: Sendable, CustomTestStringConvertible {
  let type: any OpenEnum.Type
  var testDescription: String { name }
  /// The name in Apple's list, including the enclosing type.
  var name: String { String(String(reflecting: type).dropFirst("AppStore.".count)) }

  static let all: [Enumeration] = [
    NotificationTypeV2.self, Subtype.self, AppStoreEnvironment.self, Status.self, ConsumptionRequestReason.self,
    ExternalPurchaseTokenType.self, ProductType.self, InAppOwnershipType.self, TransactionReason.self,
    OfferDiscountType.self, OfferType.self, RevocationType.self, RevocationReason.self, BillingPlanType.self,
    RenewalBillingPlanType.self, ExpirationIntent.self, AutoRenewStatus.self, PriceIncreaseStatus.self,
    PurchasePlatform.self, NotificationTypeV1.self, AdvancedCommercePeriod.self, AdvancedCommerceOfferPeriod.self,
    AdvancedCommerceOfferReason.self, AdvancedCommercePriceIncreaseInfoStatus.self, AdvancedCommerceRefundReason.self,
    AdvancedCommerceRefundType.self, AdvancedCommerceEffective.self, AdvancedCommerceReason.self,
    ExtendReasonCode.self, OrderLookupStatus.self, SendAttemptResult.self,
    DeliveryStatus.self, RefundPreference.self, AccountTenure.self, ConsumptionStatus.self, DeliveryStatusV1.self,
    LifetimeDollarsPurchased.self, LifetimeDollarsRefunded.self, Platform.self, PlayTime.self, RefundPreferenceV1.self,
    UserStatus.self, TransactionHistoryRequest.ProductType.self, TransactionHistoryRequest.Order.self,
    APIErrorCode.self,
  ].map(Enumeration.init)

  private init(_ type: any OpenEnum.Type) { self.type = type }
}

struct OpenEnumTests {
  @Test func thereAreAsManyNotificationTypesAndSubtypesAsAppleDocuments() {
    #expect(NotificationTypeV2.allKnown.count == 23)
    #expect(NotificationTypeV1.allKnown.count == 13)
    #expect(Subtype.allKnown.count == 19)
    #expect(Subtype.created.rawValue == "CREATED" && Subtype.activeTokenReminder.rawValue == "ACTIVE_TOKEN_REMINDER")
  }

  @Test(arguments: Enumeration.all)
  func knownValuesAreKnownAndDistinctAndReadBack(enumeration: Enumeration) {
    func check<Value: OpenEnum>(_: Value.Type) {
      #expect(Set(Value.allKnown).count == Value.allKnown.count)
      #expect(!Value.allKnown.isEmpty)
      for value in Value.allKnown {
        #expect(value.isKnown)
        #expect(Value(jsonValue: value.jsonValue) == value)
        #expect(value.description == "\(value.rawValue)")
      }
    }
    check(enumeration.type)
  }

  @Test(arguments: Enumeration.all)
  func anUnknownValueSurvivesDecodingAndEncoding(enumeration: Enumeration) throws {
    func check<Value: OpenEnum>(_: Value.Type) throws {
      let json: JSON = Value.jsonKind == .integer ? 4711 : "NEVER_SEEN"
      let value = try #require(Value(jsonValue: json))
      #expect(!value.isKnown)
      #expect(value.jsonValue == json)
      let data = try JSONEncoder().encode([value])
      #expect(try JSON(parsing: [UInt8](data)) == .array([json]))
      #expect(try JSONDecoder().decode([Value].self, from: data) == [value])
    }
    try check(enumeration.type)
  }

  @Test(.enabled(if: SharedMaterial.isPresent, "needs the list of Apple's values next to the checkout"))
  func theKnownValuesAreThoseOfTheListOfApplesValues() throws {
    let lists = try SharedMaterial.json("app-store-facts/enums.json")
    guard case .object(let enums) = lists["enums"] else { throw MissingList() }
    // The error codes have their own list.
    for enumeration in Enumeration.all where enumeration.name != "APIErrorCode" {
      func check<Value: OpenEnum>(_: Value.Type) throws {
        guard case .object(let list) = enums[enumeration.name] else { throw MissingList() }
        var expected = Set(try #require(list["values"].flatMap([Value].init(jsonValue:))))
        // From Apple's documentation of the type. The libraries, which the list follows, do not have it.
        if Value.self == Subtype.self {
          for raw in ["CREATED", "ACTIVE_TOKEN_REMINDER"] {
            expected.insert(try #require(Value(jsonValue: .string(raw))))
          }
        }
        #expect(Set(Value.allKnown) == expected, "\(Value.self)")
      }
      try check(enumeration.type)
    }
  }

  private struct MissingList: Error {}
}
