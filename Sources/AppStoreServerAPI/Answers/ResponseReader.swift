// Reads successful responses and verifies every signature. A single invalid item fails the whole response, so that no
// caller works with half a page.

internal import AppStore
internal import AppStoreSignature

/// Reads the response to one call.
struct ResponseReader: Sendable {
  let call: APICall
  let answer: ExchangeAnswer
  let verifier: SignedDataVerifier
  let identity: IdentityPolicy

  /// Parses the body as Apple documents it.
  func body<Body: AppStoreObject>(_ type: Body.Type) throws(APIError) -> Body {
    guard answer.isComplete else { throw undecodable("its body is truncated", .retryNow) }
    do {
      return try Body(parsing: answer.body)
    } catch {
      let kind = answer.headers["Content-Type"] ?? "no content type"
      throw undecodable("its body (\(answer.body.count) bytes, \(kind)) is invalid: \(error.reason.rawValue)")
    }
  }

  /// Returns the value of a field that Apple documents as required.
  func required<Value>(_ value: Value?, _ field: String) throws(APIError) -> Value {
    guard let value else { throw undecodable("\(field) is missing") }
    return value
  }

  /// Returns all elements of an array. An element of an undocumented type is an error rather than being skipped.
  func elements<Element>(_ elements: [Element]?, _ field: String, of json: JSONObject) throws(APIError) -> [Element] {
    guard let value = json[field], value != .null else { return [] }
    guard let elements, case .array(let all) = value, all.count == elements.count else {
      throw undecodable("\(field) is not as documented")
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

  /// Verifies a notification and its inner tokens.
  func notification(_ jws: String, _ item: String) async throws(APIError) -> VerifiedNotification {
    let notification: VerifiedNotification
    do {
      notification = try await verifier.verifyNotification(jws.utf8, identity: identity)
    } catch {
      throw unverifiable(item, error)
    }
    switch notification.inner {
    case .vouched, .verified:
      return notification
    case .forged(let forgery):
      throw unverifiable("\(item), \(forgery.token.rawValue)", forgery.error)
    case .mismatch(let mismatches):
      let what = mismatches.map { "\($0)" }.joined(separator: ", ")
      throw unverifiable(item, VerificationError(.format, "the outer and inner tokens disagree: \(what)"))
    }
  }

  /// Returns the cursor of the next page. If a page promises another one but names no cursor or its own, reading would
  /// never end.
  func cursor(_ cursor: String?, hasMore: Bool, asked: String?, _ field: String) throws(APIError) -> String? {
    guard hasMore else { return cursor }
    guard let cursor else { throw undecodable("hasMore is true but \(field) is missing") }
    guard cursor != asked else { throw undecodable("hasMore is true but \(field) is the same as in the request") }
    return cursor
  }

  /// Creates the response for the caller.
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
