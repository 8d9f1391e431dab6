// Every payload type, for tests that apply to all of them.

import AppStore
import Testing

/// A payload type as a test argument.
struct Model: Sendable, CustomTestStringConvertible {
  let type: any AppStoreObject.Type
  var testDescription: String { "\(type)" }

  init(_ type: any AppStoreObject.Type) { self.type = type }

  static let all = payloads + advancedCommerceRequests

  private static let payloads: [Model] = [
    Model(ResponseBodyV2.self), Model(ResponseBodyV2DecodedPayload.self), Model(NotificationData.self),
    Model(NotificationSummary.self), Model(ExternalPurchaseToken.self), Model(AppData.self),
    Model(JWSTransactionDecodedPayload.self), Model(JWSRenewalInfoDecodedPayload.self), Model(AppTransaction.self),
    Model(TransactionCommitmentInfo.self), Model(RenewalCommitmentInfo.self), Model(JWSDecodedHeader.self),
    Model(AdvancedCommerceDescriptors.self), Model(AdvancedCommerceOffer.self),
    Model(AdvancedCommercePriceIncreaseInfo.self), Model(AdvancedCommerceRefund.self),
    Model(AdvancedCommerceRenewalInfo.self), Model(AdvancedCommerceRenewalItem.self),
    Model(AdvancedCommerceTransactionInfo.self), Model(AdvancedCommerceTransactionItem.self),
    Model(AdvancedCommerceRequestInfo.self),
    Model(ResponseBodyV1.self), Model(UnifiedReceipt.self), Model(LatestReceiptInfo.self),
    Model(PendingRenewalInfo.self),
    Model(APIErrorBody.self), Model(TransactionInfoResponse.self), Model(AppTransactionInfoResponse.self),
    Model(HistoryResponse.self), Model(StatusResponse.self), Model(SubscriptionGroupIdentifierItem.self),
    Model(LastTransactionsItem.self), Model(OrderLookupResponse.self), Model(RefundHistoryResponse.self),
    Model(RefundLookupResponse.self), Model(ExtendRenewalDateResponse.self), Model(MassExtendRenewalDateResponse.self),
    Model(MassExtendRenewalDateStatusResponse.self), Model(NotificationHistoryResponse.self),
    Model(NotificationHistoryResponseItem.self), Model(SendAttemptItem.self), Model(SendTestNotificationResponse.self),
    Model(CheckTestNotificationResponse.self), Model(ExtendRenewalDateRequest.self),
    Model(MassExtendRenewalDateRequest.self), Model(UpdateAppAccountTokenRequest.self), Model(ConsumptionRequest.self),
    Model(ConsumptionRequestV1.self), Model(NotificationHistoryRequest.self),
  ]

  /// The requests of the Advanced Commerce API, and the objects in them.
  static let advancedCommerceRequests: [Model] = [
    Model(AdvancedCommerceOneTimeChargeCreateRequest.self), Model(AdvancedCommerceOneTimeChargeItem.self),
    Model(AdvancedCommerceSubscriptionCreateRequest.self), Model(AdvancedCommerceSubscriptionCreateItem.self),
    Model(AdvancedCommerceSubscriptionModifyInAppRequest.self), Model(AdvancedCommerceSubscriptionModifyAddItem.self),
    Model(AdvancedCommerceSubscriptionModifyChangeItem.self), Model(AdvancedCommerceSubscriptionModifyRemoveItem.self),
    Model(AdvancedCommerceSubscriptionModifyPeriodChange.self),
    Model(AdvancedCommerceSubscriptionModifyDescriptors.self),
    Model(AdvancedCommerceSubscriptionReactivateInAppRequest.self),
    Model(AdvancedCommerceSubscriptionReactivateItem.self), Model(AdvancedCommerceSubscriptionCancelRequest.self),
    Model(AdvancedCommerceSubscriptionRevokeRequest.self),
    Model(AdvancedCommerceSubscriptionChangeMetadataRequest.self),
    Model(AdvancedCommerceSubscriptionChangeMetadataDescriptors.self),
    Model(AdvancedCommerceSubscriptionChangeMetadataItem.self),
    Model(AdvancedCommerceSubscriptionPriceChangeRequest.self), Model(AdvancedCommerceSubscriptionPriceChangeItem.self),
    Model(AdvancedCommerceSubscriptionMigrateRequest.self), Model(AdvancedCommerceSubscriptionMigrateDescriptors.self),
    Model(AdvancedCommerceSubscriptionMigrateItem.self), Model(AdvancedCommerceSubscriptionMigrateRenewalItem.self),
    Model(AdvancedCommerceRequestRefundRequest.self), Model(AdvancedCommerceRequestRefundItem.self),
  ]
}

extension JSONKind {
  /// A value of this kind that every type of this kind can read.
  var sample: JSON {
    switch self {
    case .null: .null
    case .boolean: .bool(true)
    case .integer: .integer(1)
    case .number: .number("1.5")
    case .string: .string("text")
    case .array: .array([])
    case .object: .object(JSONObject())
    }
  }

  /// Values of other kinds, which no type of this kind can read.
  var wrong: [JSON] {
    switch self {
    case .string: [.null, .integer(7), .bool(true), .array([]), .object(JSONObject())]
    case .array: [.null, .integer(7), .string("text"), .object(JSONObject())]
    default: [.null, .string("text")] + (self == .boolean ? [.integer(1)] : [.bool(true)])
    }
  }
}

extension AppStoreObject {
  /// An object with every documented field.
  static var full: Self {
    var object = Self()
    for field in documentedFields { object.json[field.name] = field.kind.sample }
    return object
  }
}
