// The protection of an extension. It cannot be undone, and Apple recognizes a repeated request for a limited time only. If
// the response of a call is lost, a later attempt asks Apple first whether the subscription was extended.

internal import AppStore
internal import AppStoreServerAPI
internal import MillraceWorker

extension AppleCall {
  /// The member of an intent with the period before the request.
  private static let before = "before"
  /// The fields of a transaction from which ``ExtensionCheck`` judges.
  private static let periodFields = ["transactionId", "purchaseDate", "expiresDate"]

  /// Returns the present period of the subscription, to be kept in the intent; nil if the call is no extension, or if
  /// Apple does not know the subscription.
  func presentPeriod(_ client: AppStoreServerClient) async throws -> JSONObject? {
    guard operation == .extendSubscriptionRenewalDate, let original = Self.text("originalTransactionId", arguments)
    else { return nil }
    let transaction: JWSTransactionDecodedPayload?
    do {
      transaction = try await client.newestTransaction(of: original, in: environment)
    } catch {
      guard error.errorClass == .never else { throw error }
      // The answer to the extension itself says what is wrong.
      return nil
    }
    return transaction.map { transaction in
      JSONObject(transaction.json.members.filter { Self.periodFields.contains($0.key) })
    }
  }

  /// Returns the body of an intent.
  static func intent(_ body: JSONObject, period: JSONObject?) -> JSONObject {
    var body = body
    body[before] = period.map { .object($0) }
    return body
  }

  /// Returns the result of an earlier attempt whose response was lost; nil if the request had no effect, or may be sent
  /// again because it is recent.
  ///
  /// - Parameter isRefused: Whether Apple has just refused the request because of its yearly maximum, which the earlier
  ///   attempt may have used up.
  func earlierResult(
    _ intent: EffectIntent, isRefused: Bool = false, with client: AppStoreServerClient, at now: Timestamp
  ) async throws -> JSONObject? {
    guard operation == .extendSubscriptionRenewalDate, intent.isRepeated,
      isRefused || now - intent.intendedAt > ExtensionCheck.blindTime
    else { return nil }
    let kept = try JSONObject(parsing: intent.body)
    guard case .object(let arguments)? = kept["arguments"],
      let original = Self.text("originalTransactionId", arguments),
      case .integer(let days)? = arguments["extendByDays"]
    else { return nil }
    var period = JSONObject()
    if case .object(let before)? = kept[Self.before] { period = before }
    let check: ExtensionCheck
    do {
      check = try await client.checkExtension(
        of: original, before: JWSTransactionDecodedPayload(json: period), days: Int(clamping: days), in: environment)
    } catch {
      guard error.errorClass == .never else { throw error }
      check = .cannotTell("\(error)")
    }
    switch check {
    case .notApplied: return nil
    case .applied(let end):
      var body: JSONObject = ["originalTransactionId": .string(original), "success": true]
      body["effectiveDate"] = end?.jsonValue
      return ["status": "succeeded", "body": .object(body)]
    // Apple's refusal is the answer, unless the dates prove that the earlier attempt caused it.
    case .cannotTell where isRefused: return nil
    case .cannotTell(let why):
      return [
        "status": "failed", "unclear": true,
        "message": .string(
          "Apple's answer to an earlier attempt was lost, and its result cannot be determined: \(why)"),
      ]
    }
  }
}
