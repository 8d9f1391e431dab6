// What stands in the ledger about an answer: before the call what will be sent, after it what Apple said.

internal import AppStore
internal import AppStoreServerAPI

/// What is about to be sent. Written before the call; the same bytes are sent again where its end is not known.
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

/// An intent that another version wrote.
struct IntentFault: Error, CustomStringConvertible {
  var description: String { "the ledger's intent holds no request; a newer version wrote it" }
}

/// What Apple said.
struct ConsumptionRecord: AppStoreObject {
  var json: JSONObject

  init(json: JSONObject) { self.json = json }

  /// Apple took it.
  /// - Parameter isForetold: whether it was reported before that the answer was missing.
  static func sent(_ intent: ConsumptionIntent, at time: Timestamp, preference: String?, isForetold: Bool) -> Self {
    var record = Self()
    record.json["sent"] = true
    record.json["foretold"] = .bool(isForetold)
    record["provider"] = intent.provider
    record["at"] = time
    record["refundPreference"] = preference
    return record
  }

  /// Apple will never take it.
  static func refused(_ intent: ConsumptionIntent, _ error: APIError) -> Self {
    var record = Self()
    record.json["sent"] = false
    record["provider"] = intent.provider
    record["errorCode"] = error.code?.rawValue
    record["errorMessage"] = error.message
    record["status"] = error.status
    return record
  }

  var isSent: Bool { self["sent"] ?? false }
  var isForetold: Bool { self["foretold"] ?? false }
  var provider: String? { self["provider"] }
  var at: Timestamp? { self["at"] }
  var refundPreference: String? { self["refundPreference"] }
  var errorCode: Int64? { self["errorCode"] }
  var errorMessage: String? { self["errorMessage"] }
  var status: Int? { self["status"] }

  static let documentedFields: [DocumentedField<Self>] = []
}

extension AppStoreServerClient {
  /// Sends an answer; a refusal that no repetition changes is a result.
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

  /// - Returns: the preference that Apple was told of, in a word.
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
  /// What events call it: a word where there is one, as in version 2.
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
  /// Why an answer waits, as a stable code.
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
