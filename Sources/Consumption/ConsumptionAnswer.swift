// What a team knows about a purchase, in the words of Apple's newer endpoint, and how it becomes a request of either.

public import AppStore
internal import Millrace

/// An answer, as providers give it. `topics/schemas/consumption-answer.schema.json` describes its JSON.
public struct ConsumptionAnswer: AppStoreObject {
  /// As it came.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// Whether the customer agreed that this is told to Apple. Only true lets anything be sent.
  public var customerConsented: Bool? {
    get { self["customerConsented"] }
    set { self["customerConsented"] = newValue }
  }

  /// Whether the purchase was delivered and works.
  public var deliveryStatus: DeliveryStatus? {
    get { self["deliveryStatus"] }
    set { self["deliveryStatus"] = newValue }
  }

  /// Whether the customer could see or try it before the purchase.
  public var sampleContentProvided: Bool? {
    get { self["sampleContentProvided"] }
    set { self["sampleContentProvided"] = newValue }
  }

  /// How much was consumed, in thousandths of a percent: 0 to 100000. Never of an auto-renewable subscription.
  public var consumptionPercentage: Int? {
    get { self["consumptionPercentage"] }
    set { self["consumptionPercentage"] = newValue }
  }

  /// What the team would like Apple to decide.
  public var refundPreference: RefundPreference? {
    get { self["refundPreference"] }
    set { self["refundPreference"] = newValue }
  }

  /// What only the older endpoint takes: fields of `ConsumptionRequestV1` by their names.
  public var v1: ConsumptionRequestV1? {
    get { self["v1"] }
    set { self["v1"] = newValue }
  }

  /// None: what is odd is found in the request that an answer becomes.
  public static let documentedFields: [DocumentedField<Self>] = []
}

extension ConsumptionAnswer {
  /// The request that Apple gets, or the rules that it would break.
  ///
  /// What Apple demands and leaves no choice about is filled in: 0 percent of what was not delivered.
  public func request(for question: ConsumptionQuestion) -> Result<PreparedRequest, AnswerFault> {
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
        return .failure(AnswerFault(["v1: holds a field that ConsumptionRequestV1 does not have, or the consent"]))
      }
      let requestV1 = requestV1(account: question.appAccountToken)
      // What is told in fewer words must be right all the same.
      let violations =
        requestV1.violations() + request.violations(productType: nil).filter { Self.rulesOfValues.contains($0.rule) }
      return violations.isEmpty ? .success(.v1(requestV1)) : .failure(AnswerFault(violations))
    }
  }

  /// Rules about single values, which hold whichever endpoint is told of them.
  private static let rulesOfValues: Set<RequestRule> = [.documentedType, .documentedValue, .consumptionPercentageRange]
  /// What `v1` may say. Consent is given in one place.
  private static let knownV1 = Set(ConsumptionRequestV1.documentedFields.map(\.name)).subtracting(["customerConsented"])

  private func requestV1(account: String?) -> ConsumptionRequestV1 {
    var request = ConsumptionRequestV1(
      customerConsented: customerConsented ?? false, sampleContentProvided: false,
      deliveryStatus: .deliveredAndWorkingProperly)
    request.customerConsented = customerConsented
    request.sampleContentProvided = sampleContentProvided
    request.deliveryStatus = deliveryStatus.flatMap { Self.olderStatuses[$0] }
    request.platform = .apple
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

/// A request that keeps every documented rule.
public enum PreparedRequest: Sendable, Hashable {
  /// For Send Consumption Information.
  case v2(ConsumptionRequest)
  /// For Send Consumption Information V1.
  case v1(ConsumptionRequestV1)

  /// What is sent.
  var json: JSON {
    switch self {
    case .v2(let request): request.jsonValue
    case .v1(let request): request.jsonValue
    }
  }
}

/// Why an answer cannot be sent. Quotes fields and rules, never a customer's data.
public struct AnswerFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// The rules that it breaks.
  public var rules: [String]

  init(_ rules: [String]) { self.rules = rules }

  /// What was found is left out: it is what somebody said of a customer.
  init(_ violations: [RequestViolation]) {
    self.init(violations.map { "\($0.field): \($0.rule.rawValue) (\($0.page))" })
  }

  /// The rules, in one line.
  public var description: String { rules.joined(separator: "; ") }
}
