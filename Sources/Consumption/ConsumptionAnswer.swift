// A team's answer to a consumption request, in the fields of Apple's newer endpoint, and its conversion to a request
// for either endpoint.

package import AppStore
internal import MillraceWorker

/// A provider's answer. `topics/schemas/consumption-answer.schema.json` describes its JSON.
package struct ConsumptionAnswer: AppStoreObject {
  /// The JSON object, unchanged.
  package var json: JSONObject

  /// Creates a view over a JSON object.
  package init(json: JSONObject) { self.json = json }

  /// Whether the customer consented to sharing this data with Apple. The worker sends an answer only if this is true.
  package var customerConsented: Bool? {
    get { self["customerConsented"] }
    set { self["customerConsented"] = newValue }
  }

  /// Whether the purchase was delivered and works properly.
  package var deliveryStatus: DeliveryStatus? {
    get { self["deliveryStatus"] }
    set { self["deliveryStatus"] = newValue }
  }

  /// Whether the customer could try or preview the product before the purchase.
  package var sampleContentProvided: Bool? {
    get { self["sampleContentProvided"] }
    set { self["sampleContentProvided"] = newValue }
  }

  /// The consumed part in thousandths of a percent: 0 to 100000. Must be absent for auto-renewable subscriptions.
  package var consumptionPercentage: Int? {
    get { self["consumptionPercentage"] }
    set { self["consumptionPercentage"] = newValue }
  }

  /// The decision that the team prefers.
  package var refundPreference: RefundPreference? {
    get { self["refundPreference"] }
    set { self["refundPreference"] = newValue }
  }

  /// Additional fields of `ConsumptionRequestV1`, for the older endpoint only.
  package var v1: ConsumptionRequestV1? {
    get { self["v1"] }
    set { self["v1"] = newValue }
  }

  /// Empty, because the fields are checked in the request made from the answer.
  package static let documentedFields: [DocumentedField<Self>] = []
}

extension ConsumptionAnswer {
  /// Returns the request for Apple, or the rules that it would break.
  ///
  /// Sets the percentage to 0 for a purchase that was not delivered, because Apple accepts no other value.
  package func request(for question: ConsumptionQuestion) -> Result<PreparedRequest, AnswerFault> {
    var request = ConsumptionRequest()
    for field in ConsumptionRequest.documentedFields { request.json[field.name] = json[field.name] }
    request.setImpliedPercentage(of: question.productType)
    switch question.version {
    case .v2:
      let violations = request.violations(productType: question.productType)
      return violations.isEmpty ? .success(.v2(request)) : .failure(AnswerFault(violations))
    case .v1:
      guard json["v1"] == nil || v1 != nil else { return .failure(AnswerFault(["v1: must be an object"])) }
      guard Self.knownV1.isSuperset(of: (v1?.json.members ?? []).map(\.key)) else {
        return .failure(AnswerFault(["v1: has a field that is unknown to ConsumptionRequestV1, or customerConsented"]))
      }
      let requestV1 = requestV1(account: question.appAccountToken)
      // The older endpoint has coarser fields, but the values must still be valid.
      let violations =
        requestV1.violations() + request.violations(productType: nil).filter { Self.rulesOfValues.contains($0.rule) }
      return violations.isEmpty ? .success(.v1(requestV1)) : .failure(AnswerFault(violations))
    }
  }

  /// The rules about single values, which apply to both endpoints.
  private static let rulesOfValues: Set<RequestRule> = [.documentedType, .documentedValue, .consumptionPercentageRange]
  /// The fields that `v1` may contain. Consent is set outside of `v1` only.
  private static let knownV1 = Set(ConsumptionRequestV1.documentedFields.map(\.name)).subtracting(["customerConsented"])

  private func requestV1(account: String?) -> ConsumptionRequestV1 {
    var request = ConsumptionRequestV1(
      customerConsented: customerConsented ?? false, sampleContentProvided: false,
      deliveryStatus: .deliveredAndWorkingProperly)
    request.customerConsented = customerConsented
    request.sampleContentProvided = sampleContentProvided
    request.deliveryStatus = deliveryStatus.flatMap { Self.olderStatuses[$0] }
    if let account { request.appAccountToken = account }
    switch consumptionPercentage {
    case 0?: request.consumptionStatus = .notConsumed
    case 100_000?: request.consumptionStatus = .fullyConsumed
    case .some: request.consumptionStatus = .partiallyConsumed
    case nil: break
    }
    switch refundPreference {
    case .grantFull?, .grantProrated?: request.refundPreference = .preferGrant
    case .decline?: request.refundPreference = .preferDecline
    default: break
    }
    for member in v1?.json.members ?? [] { request.json[member.key] = member.value }
    return request
  }

  private static let olderStatuses: [DeliveryStatus: DeliveryStatusV1] = [
    .delivered: .deliveredAndWorkingProperly, .undeliveredQualityIssue: .didNotDeliverDueToQualityIssue,
    .undeliveredWrongItem: .deliveredWrongItem, .undeliveredServerOutage: .didNotDeliverDueToServerOutage,
    .undeliveredOther: .didNotDeliverForOtherReason,
  ]
}

/// A request that satisfies every documented rule.
package enum PreparedRequest: Sendable, Hashable {
  /// For Send Consumption Information.
  case v2(ConsumptionRequest)
  /// For Send Consumption Information V1.
  case v1(ConsumptionRequestV1)

  var json: JSON {
    switch self {
    case .v2(let request): request.jsonValue
    case .v1(let request): request.jsonValue
    }
  }
}

/// The reason why an answer cannot be sent. It names fields and rules, never a customer's data.
package struct AnswerFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// The broken rules.
  package var rules: [String]

  init(_ rules: [String]) { self.rules = rules }

  /// Leaves the values out, because they are a customer's data.
  init(_ violations: [RequestViolation]) {
    self.init(violations.map { "\($0.field): \($0.rule.rawValue) (\($0.page))" })
  }

  /// The broken rules, in one line.
  package var description: String { rules.joined(separator: "; ") }
}
