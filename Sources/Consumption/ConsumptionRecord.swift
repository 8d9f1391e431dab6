// The ledger entries of an answer: the request before the call, and Apple's response after it.

internal import AppStore
internal import AppStoreServerAPI
#if PLANTED_FAULTS
  internal import MillraceWorker
#endif

/// The request, written before the call. If the result of the call is unknown, the worker sends the same bytes again.
struct ConsumptionIntent: AppStoreObject {
  var json: JSONObject

  init(json: JSONObject) { self.json = json }

  init(_ request: PreparedRequest, by provider: String) {
    self.init()
    json["provider"] = .string(provider)
    json["request"] = request.json
  }

  var provider: String? { self["provider"] }

  func request(_ version: ConsumptionQuestion.Version) throws(IntentFault) -> PreparedRequest {
    guard case .object(let request)? = json["request"] else { throw IntentFault() }
    return switch version {
    case .v1: .v1(ConsumptionRequestV1(json: request))
    case .v2: .v2(ConsumptionRequest(json: request))
    }
  }

  static let documentedFields: [DocumentedField<Self>] = []
}

/// The intent was written by another version.
struct IntentFault: Error, CustomStringConvertible {
  var description: String { "the intent in the ledger has no request; it was written by a newer version" }
}

/// Apple's response.
struct ConsumptionRecord: AppStoreObject {
  var json: JSONObject

  init(json: JSONObject) { self.json = json }

  /// Apple accepted the answer.
  /// - Parameter isForetold: Whether `consumption.at-risk` was published before.
  static func sent(_ intent: ConsumptionIntent, at time: Timestamp, preference: String?, isForetold: Bool) -> Self {
    var record = Self()
    record.json["sent"] = true
    record.json["foretold"] = .bool(isForetold)
    record["provider"] = intent.provider
    record["at"] = time
    record["refundPreference"] = preference
    return record
  }

  /// Apple rejected the answer for good.
  static func refused(_ intent: ConsumptionIntent, _ error: APIError) -> Self {
    var record = Self()
    record.json["sent"] = false
    record["provider"] = intent.provider
    record["errorCode"] = error.code?.rawValue
    record["errorMessage"] = error.message
    record["status"] = error.status
    return record
  }

  /// The team withdrew its answer while it was unknown whether Apple had received it.
  static func withdrawn(by provider: String?) -> Self {
    var record = Self()
    record.json["sent"] = false
    record.json["withdrawn"] = true
    record["provider"] = provider
    return record
  }

  var isSent: Bool { self["sent"] ?? false }
  var isWithdrawn: Bool { self["withdrawn"] ?? false }
  var isForetold: Bool {
    #if PLANTED_FAULTS
      if PlantedFault.lateAnswerUnannounced.isActive { return true }
    #endif
    return self["foretold"] ?? false
  }
  var provider: String? { self["provider"] }
  var at: Timestamp? { self["at"] }
  var refundPreference: String? { self["refundPreference"] }
  var errorCode: Int64? { self["errorCode"] }
  var errorMessage: String? { self["errorMessage"] }
  var status: Int? { self["status"] }

  static let documentedFields: [DocumentedField<Self>] = []
}

extension AppStoreServerClient {
  /// Sends an answer. A permanent refusal is a result, not an error.
  func send(
    _ intent: ConsumptionIntent, _ question: ConsumptionQuestion, isForetold: Bool, now: () -> Timestamp
  ) async throws -> ConsumptionRecord {
    do {
      let preference = try await send(try intent.request(question.version), question)
      return .sent(intent, at: now(), preference: preference, isForetold: isForetold)
    } catch let error as APIError {
      guard error.isAboutTheQuestion else { throw error }
      return .refused(intent, error)
    }
  }

  /// - Returns: The preference that was sent, as its name.
  private func send(_ request: PreparedRequest, _ question: ConsumptionQuestion) async throws -> String? {
    switch request {
    case .v2(let body):
      _ = try await sendConsumptionInformation(
        question.transactionId, body, productType: question.productType, in: question.environment)
      return body.refundPreference?.rawValue
    case .v1(let body):
      _ = try await sendConsumptionInformationV1(question.transactionId, body, in: question.environment)
      return body.refundPreference?.name
    }
  }
}

extension RefundPreferenceV1 {
  /// The name in events: the same as in version 2 if there is one.
  fileprivate var name: String? {
    switch self {
    case .undeclared: nil
    case .preferGrant: "GRANT"
    case .preferDecline: "DECLINE"
    case .noPreference: "NO_PREFERENCE"
    default: "\(rawValue)"
    }
  }
}

extension APIError {
  /// The stable code of the reason why an answer is delayed.
  var postponement: String {
    switch kind {
    case .budget: "api-budget"
    case .rateLimited: "apple-limit"
    case .credentials, .unauthorized: "api-credentials"
    case .transport, .deadline: "apple-unreachable"
    default: errorClass == .configuration ? "api-configuration" : "apple-error"
    }
  }
}
