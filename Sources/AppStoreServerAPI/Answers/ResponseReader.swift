// From a successful answer to values. Whatever is signed is verified before it leaves; one item that cannot be believed
// fails the whole answer, so that nobody works on the half of a page.

internal import AppStore
internal import AppStoreSignature

/// Reads the answer to one call.
struct ResponseReader: Sendable {
  let call: APICall
  let answer: ExchangeAnswer
  let verifier: SignedDataVerifier
  let identity: IdentityPolicy

  /// The body as Apple documents it.
  func body<Body: AppStoreObject>(_ type: Body.Type) throws(APIError) -> Body {
    guard answer.isComplete else { throw undecodable("its body breaks off", .retryNow) }
    do {
      return try Body(parsing: answer.body)
    } catch {
      let kind = answer.headers["Content-Type"] ?? "no content type"
      throw undecodable("its body (\(answer.body.count) bytes, \(kind)) is \(error.reason.rawValue)")
    }
  }

  /// A field that Apple documents as always there.
  func required<Value>(_ value: Value?, _ field: String) throws(APIError) -> Value {
    guard let value else { throw undecodable("\(field) is missing") }
    return value
  }

  /// The elements of an array, all of them: one that is not of the documented type is no reason to hide it.
  func elements<Element>(_ elements: [Element]?, _ field: String, of json: JSONObject) throws(APIError) -> [Element] {
    guard let value = json[field], value != .null else { return [] }
    guard let elements, case .array(let all) = value, all.count == elements.count else {
      throw undecodable("\(field) is not what is documented")
    }
    return elements
  }

  /// Verifies a transaction.
  func transaction(_ jws: String, _ item: String) async throws(APIError) -> SignedTransaction {
    do {
      return SignedItem(payload: try await verifier.verifyTransaction(jws.utf8, identity: identity).payload, jws: jws)
    } catch {
      throw unverifiable(item, error)
    }
  }

  /// Verifies a list of transactions.
  func transactions(_ jws: [String], _ field: String) async throws(APIError) -> [SignedTransaction] {
    var transactions: [SignedTransaction] = []
    for (index, jws) in jws.enumerated() { transactions.append(try await transaction(jws, "\(field)[\(index)]")) }
    return transactions
  }

  /// Verifies renewal info.
  func renewalInfo(_ jws: String, _ item: String) async throws(APIError) -> SignedRenewalInfo {
    do {
      return SignedItem(payload: try await verifier.verifyRenewalInfo(jws.utf8, identity: identity).payload, jws: jws)
    } catch {
      throw unverifiable(item, error)
    }
  }

  /// Verifies an app transaction.
  func appTransaction(_ jws: String, _ item: String) async throws(APIError) -> SignedAppTransaction {
    do {
      return SignedItem(
        payload: try await verifier.verifyAppTransaction(jws.utf8, identity: identity).payload, jws: jws)
    } catch {
      throw unverifiable(item, error)
    }
  }

  /// Verifies a notification with all that is inside.
  func notification(_ jws: String, _ item: String) async throws(APIError) -> VerifiedNotification {
    let notification: VerifiedNotification
    do {
      notification = try await verifier.verifyNotification(jws.utf8, identity: identity)
    } catch {
      throw unverifiable(item, error)
    }
    switch notification.inner {
    case .verified:
      return notification
    case .forged(let forgery):
      throw unverifiable("\(item), \(forgery.token.rawValue)", forgery.error)
    case .mismatch(let mismatches):
      let what = mismatches.map { "\($0)" }.joined(separator: ", ")
      throw unverifiable(item, VerificationError(.format, "outer and inner tokens disagree: \(what)"))
    }
  }

  /// Where the page after this one begins. A page that promises another and names it not, or names itself, would be read
  /// for ever.
  func cursor(_ cursor: String?, hasMore: Bool, asked: String?, _ field: String) throws(APIError) -> String? {
    guard hasMore else { return cursor }
    guard let cursor else { throw undecodable("hasMore is true and \(field) is missing") }
    guard cursor != asked else { throw undecodable("hasMore is true and \(field) is the one that was asked for") }
    return cursor
  }

  /// The response to hand out.
  func response<Value>(_ value: Value, _ json: JSONObject = JSONObject()) -> APIResponse<Value> {
    APIResponse(
      value: value, environment: call.environment, status: answer.status, headers: answer.headers, json: json)
  }

  func undecodable(_ what: String, _ errorClass: ErrorClass = .retryLater) -> APIError {
    APIError(call, .undecodable(what), errorClass, isUnclear: true).with(answer)
  }

  private func unverifiable(_ item: String, _ error: VerificationError) -> APIError {
    let errorClass: ErrorClass = error.isTemporary ? .retryLater : .configuration
    return APIError(call, .unverifiable(item: item, error), errorClass, isUnclear: true).with(answer)
  }
}
