// Makes the calls to Apple that endpoints order, inside the app's budget. A call with an effect is made once.

internal import AppStore
internal import AppStoreServerAPI
internal import MillraceTime
internal import MillraceWorker

/// The name of a call was used for another operation before.
struct CallNameReused: Error, CustomStringConvertible {
  /// The operation; nil if only its effect is known.
  var earlier: String?

  var description: String {
    "the name was used for \(earlier ?? "a call with an effect") before; give each call of a key a name of its own"
  }
}

/// A call to Apple.
struct AppleCall: Sendable {
  let operation: AppleOperation
  let arguments: JSONObject
  let bundleId: String?
  let environment: AppStoreEnvironment

  /// - Parameter origin: The notification that led to the call.
  init(_ operation: AppleOperation, _ arguments: JSONObject, origin: StoredEntry.Origin) {
    self.operation = operation
    self.arguments = arguments
    bundleId = origin.bundleId
    environment =
      operation == .lookUpOrderId
      ? .production
      : AppStoreEnvironment(rawValue: Self.text("environment", arguments) ?? origin.environment ?? "Production")
  }

  /// Makes the call and returns its result. A call with an effect is made once: a repeated name gets the stored result.
  ///
  /// - Parameter name: The permanent name of the call in the ledger.
  /// - Throws: ``CallNameReused``, or an error after which the call has to be made again.
  func result(_ name: String, in context: HandlerContext) async throws -> JSON {
    let client: AppStoreServerClient
    do {
      client = try context.appStore(for: bundleId)
    } catch let error as HandlerError where error.reason == "api-not-configured" {
      return ["status": "failed", "message": .string(error.description)]
    }
    return operation.endpoint.hasEffect
      ? try await effect(name, client, context) : try await read(name, client, context)
  }

  private func read(_ name: String, _ client: AppStoreServerClient, _ context: HandlerContext) async throws -> JSON {
    guard await context.effect(name) == nil else { throw CallNameReused(earlier: nil) }
    do {
      return .object(Self.succeeded(try await Self.ask(client, operation, arguments, environment)))
    } catch let error as APIError where error.errorClass == .never {
      return .object(Self.failed(error))
    }
  }

  private func effect(_ name: String, _ client: AppStoreServerClient, _ context: HandlerContext) async throws -> JSON {
    let stored: [UInt8]
    do {
      let order: JSONObject = [
        "operation": .string(operation.rawValue), "environment": .string(environment.rawValue),
        "arguments": .object(arguments),
      ]
      // An intent that exists counts, with the period of its time.
      let period = await context.effect(name) == nil ? try await presentPeriod(client) : nil
      stored = try await context.once(
        name, body: Self.intent(order, period: period).serialized(), calling: operation.endpoint, in: environment,
        of: client
      ) { [self] intent, client in
        let intended = try JSONObject(parsing: intent.body)
        try check(intended)
        // An earlier attempt may have sent other arguments: these count.
        var arguments = self.arguments
        if case .object(let earlier)? = intended["arguments"] { arguments = earlier }
        var result = try await perform(intent, arguments, client, context)
        result["operation"] = .string(operation.rawValue)
        return result.serialized()
      }
    } catch let error as HandlerError where error.reason == "effect-result" {
      return Self.lost
    }
    guard !stored.isEmpty else { return Self.lost }
    var result = try JSONObject(parsing: stored)
    try check(result)
    result["operation"] = nil
    return .object(result)
  }

  /// Makes the call, unless an earlier attempt had its effect.
  private func perform(
    _ intent: EffectIntent, _ arguments: JSONObject, _ client: AppStoreServerClient, _ context: HandlerContext
  ) async throws -> JSONObject {
    if let earlier = try await earlierResult(intent, with: client, at: context.clock.wallTime) { return earlier }
    do {
      return Self.succeeded(try await Self.ask(client, operation, arguments, environment))
    } catch let error as APIError {
      guard error.errorClass == .never, !error.isUnclear else { throw error }
      guard error.code == .subscriptionMaxExtension else { return Self.failed(error) }
      let now = context.clock.wallTime
      return try await earlierResult(intent, isRefused: true, with: client, at: now) ?? Self.failed(error)
    }
  }

  /// Checks that an earlier call of this name was the same operation.
  private func check(_ earlier: JSONObject) throws(CallNameReused) {
    guard case .string(let name)? = earlier["operation"], name != operation.rawValue else { return }
    throw CallNameReused(earlier: name)
  }

  /// The result of a call whose answer was not kept.
  static let lost: JSON = [
    "status": "failed",
    "message": "Apple's answer was not kept: it is larger than 256 KiB, or the customer was erased after the call",
  ]

  private static func succeeded(_ body: JSONObject) -> JSONObject {
    ["status": "succeeded", "body": .object(DecodedTokens.object(body))]
  }

  private static func failed(_ error: APIError) -> JSONObject {
    var json: JSONObject = ["status": "failed"]
    json["httpStatus"] = error.status.map { .integer(Int64($0)) }
    json["errorCode"] = error.code.map { .integer(Int64($0.rawValue)) }
    json["message"] = .string(error.message ?? error.what)
    return json
  }

  /// Asks Apple, and returns the body of the answer. Every token in it is verified.
  private static func ask(
    _ client: AppStoreServerClient, _ operation: AppleOperation, _ arguments: JSONObject,
    _ environment: AppStoreEnvironment
  ) async throws -> JSONObject {
    let transactionId = text("transactionId", arguments) ?? ""
    let original = text("originalTransactionId", arguments) ?? ""
    switch operation {
    case .getTransactionInfo: return try await client.getTransactionInfo(transactionId, in: environment).json
    case .getAppTransactionInfo: return try await client.getAppTransactionInfo(transactionId, in: environment).json
    case .getTransactionHistory:
      return try await page(
        client.getTransactionHistory(
          transactionId, TransactionHistoryRequest(arguments), after: text("revision", arguments), in: environment))
    case .getRefundHistory:
      return try await page(
        client.getRefundHistory(transactionId, after: text("revision", arguments), in: environment))
    case .getAllSubscriptionStatuses:
      let statuses = integers("status", arguments).map { Status(rawValue: $0) }
      return try await client.getAllSubscriptionStatuses(
        transactionId, SubscriptionStatusesRequest(statuses: statuses), in: environment
      ).json
    case .extendSubscriptionRenewalDate:
      let request = ExtendRenewalDateRequest(json: body(arguments, without: "originalTransactionId"))
      return try await client.extendSubscriptionRenewalDate(original, request, in: environment).json
    case .sendConsumptionInformation:
      let request = ConsumptionRequest(json: body(arguments, without: "transactionId"))
      return try await client.sendConsumptionInformation(transactionId, request, in: environment).json
    case .setAppAccountToken:
      let request = UpdateAppAccountTokenRequest(json: body(arguments, without: "originalTransactionId"))
      return try await client.setAppAccountToken(original, request, in: environment).json
    case .lookUpOrderId: return try await client.lookUpOrderId(text("orderId", arguments) ?? "").json
    }
  }

  private static func page(_ pages: APIPages<TransactionPage>) async throws -> JSONObject {
    var iterator = pages.makeAsyncIterator()
    return try await iterator.next()?.json ?? [:]
  }

  private static func body(_ arguments: JSONObject, without name: String) -> JSONObject {
    JSONObject(arguments.members.filter { $0.key != name && $0.key != "environment" })
  }

  static func text(_ name: String, _ object: JSONObject) -> String? {
    if case .string(let text)? = object[name] { text } else { nil }
  }

  fileprivate static func texts(_ name: String, _ object: JSONObject) -> [String] {
    guard case .array(let elements)? = object[name] else { return [] }
    return elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
  }

  private static func integers(_ name: String, _ object: JSONObject) -> [Int] {
    guard case .array(let elements)? = object[name] else { return [] }
    return elements.compactMap { if case .integer(let number) = $0 { Int(exactly: number) } else { nil } }
  }
}

extension TransactionHistoryRequest {
  /// Reads the arguments of `getTransactionHistory`, which were checked before.
  fileprivate init(_ arguments: JSONObject) {
    func time(_ name: String) -> Timestamp? {
      if case .integer(let time)? = arguments[name] { Timestamp(millisecondsSince1970: time) } else { nil }
    }
    func flag(_ name: String) -> Bool? { if case .bool(let value)? = arguments[name] { value } else { nil } }
    self.init(
      startDate: time("startDate"), endDate: time("endDate"),
      productIds: AppleCall.texts("productId", arguments),
      productTypes: AppleCall.texts("productType", arguments).map { ProductType(rawValue: $0) },
      sort: AppleCall.text("sort", arguments).map { Order(rawValue: $0) },
      subscriptionGroupIdentifiers: AppleCall.texts("subscriptionGroupIdentifier", arguments),
      inAppOwnershipType: AppleCall.text("inAppOwnershipType", arguments).map { InAppOwnershipType(rawValue: $0) },
      revoked: flag("revoked"))
  }
}
