// Reads successful responses and verifies every signature. An item that Apple signed and that is not as documented is
// skipped and listed. An item that Apple has not signed fails the whole response.

internal import AppStore
internal import AppStoreSignature
internal import Synchronization

/// Reads the response to one call.
struct ResponseReader: Sendable {
  let call: APICall
  let answer: ExchangeAnswer
  let verifier: SignedDataVerifier
  let identity: IdentityPolicy
  private let skipped = SkippedItems()

  init(call: APICall, answer: ExchangeAnswer, verifier: SignedDataVerifier, identity: IdentityPolicy) {
    (self.call, self.answer, self.verifier, self.identity) = (call, answer, verifier, identity)
  }

  /// Parses the body as Apple documents it.
  func body<Body: AppStoreObject>(_ type: Body.Type) throws(APIError) -> Body {
    guard answer.isComplete else { throw undecodable("its body is truncated", .retryNow) }
    do {
      return try Body(parsing: answer.body)
    } catch {
      let kind = answer.headers["Content-Type"] ?? "no content type"
      if answer.body.first(where: { $0 > UInt8(ascii: " ") }) == UInt8(ascii: "<") {
        throw undecodable(
          "something between you and Apple answered: its body (\(answer.body.count) bytes, \(kind)) is a web page; check "
            + "the base URL, and any proxy or portal in front of Apple")
      }
      throw undecodable("its body (\(answer.body.count) bytes, \(kind)) is invalid: \(error.reason.rawValue)")
    }
  }

  /// Returns the value of a field that Apple documents as required.
  func required<Value>(_ value: Value?, _ field: String) throws(APIError) -> Value {
    guard let value else { throw undecodable("\(field) is missing") }
    return value
  }

  /// Returns the elements of an array with their positions. An element of an undocumented type is skipped, unless all
  /// are.
  func elements<Element: JSONRepresentable>(
    _ type: Element.Type, _ field: String, of json: JSONObject
  ) throws(APIError) -> [(element: Element, item: String)] {
    guard let value = json[field], value != .null else { return [] }
    guard case .array(let all) = value else { throw undecodable("\(field) is not as documented") }
    var elements: [(element: Element, item: String)] = []
    var odd: [String] = []
    for (index, value) in all.enumerated() {
      let item = "\(field)[\(index)]"
      if let element = Element(jsonValue: value) { elements.append((element, item)) } else { odd.append(item) }
    }
    guard odd.isEmpty || !elements.isEmpty else { throw undecodable("\(field) is not as documented") }
    for item in odd { skipped.add(SkippedItem(item: item, error: VerificationError(.format, "not as documented"))) }
    return elements
  }

  /// Returns the result of reading one item of a list; nil if the item is skipped.
  func item<Item>(_ read: () async throws(APIError) -> Item) async throws(APIError) -> Item? {
    do {
      return try await read()
    } catch {
      guard let odd = error.skippedItem else { throw error }
      skipped.add(odd)
      return nil
    }
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
  func transactions(_ field: String, of json: JSONObject) async throws(APIError) -> [SignedTransaction] {
    var transactions: [SignedTransaction] = []
    for (jws, item) in try elements(String.self, field, of: json) {
      let transaction = try await self.item { () async throws(APIError) in try await self.transaction(jws, item) }
      if let transaction { transactions.append(transaction) }
    }
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
      value: value, environment: call.environment, status: answer.status, headers: answer.headers, json: json,
      skipped: skipped.all)
  }

  func undecodable(_ what: String, _ errorClass: ErrorClass = .retryLater) -> APIError {
    APIError(call, .undecodable(what), errorClass, isUnclear: true).with(answer)
  }

  private func unverifiable(_ item: String, _ error: VerificationError) -> APIError {
    let errorClass: ErrorClass = error.isTemporary ? .retryLater : .configuration
    return APIError(call, .unverifiable(item: item, error), errorClass, isUnclear: true).with(answer)
  }
}

/// The items that a reader has skipped. The copies of a reader share it.
private final class SkippedItems: Sendable {
  private let items = Mutex<[SkippedItem]>([])

  var all: [SkippedItem] { items.withLock { $0 } }

  func add(_ item: SkippedItem) { items.withLock { $0.append(item) } }
}
