// Apple in the simulation: signs notifications and answers, and serves calls of the App Store Server API after simulated
// latency. What a call means is the business of the workload, which also keeps the journal of what Apple did.

internal import AppStore
internal import AppStoreServerAPI
internal import AppStoreSignature
internal import AppStoreSigning
internal import CSimulation
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords
internal import MillraceTime

/// A call that has arrived at Apple.
struct AppleCall: Sendable {
  var method: APIEndpoint.Method
  /// The segments of the path.
  var path: [String]
  var body: [UInt8]

  init(_ request: ExchangeRequest) {
    method = request.method
    path = request.url.split(separator: "/").dropFirst(2).map(String.init)
    body = request.body ?? []
  }

  var description: String { "\(method.rawValue) \(path.joined(separator: "/"))" }
}

final class AppleModel: @unchecked Sendable {
  /// The chain that signs everything. Generating it takes longer than many seeds, so one process generates it once for
  /// its children. Nil if that failed.
  static let chain: SigningChain? = {
    do { return try SigningChain.generate(at: Timestamp(millisecondsSince1970: 1_767_225_600_000), seed: 1) } catch {
      return nil
    }
  }()

  struct NoChain: Error {}

  let app = SampleApp()
  let verifier: SignedDataVerifier
  let credentials: [String: APICredentials]
  var faults = AppleFaults.none
  var history = NotificationHistory()
  private let chain: SigningChain
  private let router: NotificationRouter
  private let timeline: Timeline

  init(_ timeline: Timeline) throws {
    guard let chain = Self.chain else { throw NoChain() }
    (self.chain, self.timeline) = (chain, timeline)
    var configuration = SignedDataVerifier.Configuration()
    configuration.trustedRoots = [chain.rootDER]
    configuration.now = { MillraceClock.ofSimulation.wallTime }
    verifier = try SignedDataVerifier(configuration)
    let key = try APIKey(issuerId: "simulation", keyId: "SIMULATION", privateKeyPEM: chain.leafKeyPEM)
    credentials = [app.bundleId: try APICredentials(bundleId: app.bundleId, keys: [key])]
    router = try NotificationRouter([
      TopicDefinition(name: NotificationFamily.unrecognized.topic, notifications: .init(unrecognized: true))
    ])
  }

  /// The configuration of a process that calls this Apple.
  var configuration: MillraceConfiguration {
    var settings = AppSettings()
    settings.bundleId = app.bundleId
    settings.appAppleId = app.appAppleId
    settings.environments = [app.environment]
    var configuration = MillraceConfiguration()
    configuration.apps = [settings]
    return configuration
  }

  var now: Timestamp { MillraceClock.ofSimulation.wallTime }

  // MARK: - What Apple signs

  func signed(_ json: JSONObject) throws -> String {
    String(decoding: try chain.sign(json.serialized()), as: UTF8.self)
  }

  /// Returns a transaction of the app that was bought at a time.
  func transaction(
    _ id: String, of original: String, product: String = "monthly", type: ProductType = .autoRenewableSubscription,
    at time: Timestamp
  ) -> TransactionPayload {
    var transaction = TransactionPayload(
      transactionId: id, originalTransactionId: original, bundleId: app.bundleId, productId: product,
      purchaseDate: time, originalPurchaseDate: time, type: type, ownership: .purchased, signedDate: time,
      environment: app.environment, reason: .purchase, price: 9_990, appTransactionId: "app-\(original)")
    if type == .autoRenewableSubscription {
      transaction.subscriptionGroupIdentifier = "group"
      transaction.expiresDate = time + .seconds(30 * 86_400)
    }
    return transaction
  }

  /// Returns the record of a notification about a transaction, as the ingress writes it.
  func notification(
    _ kind: SampleKind, id: String, about transaction: TransactionPayload, status: Status? = nil, signedAt: Timestamp,
    to family: NotificationFamily
  ) throws -> ProducerRecord {
    var transaction = transaction
    transaction.signedDate = signedAt
    let part = NotificationPart.data(
      PayloadApp(
        bundleId: app.bundleId, appAppleId: app.appAppleId, bundleVersion: "1", environment: app.environment),
      transaction: Array(try signed(transaction.json).utf8), renewalInfo: nil, status: status, reason: nil)
    let payload = notificationPayload(kind: kind, notificationUUID: id, part: part, signedDate: signedAt)
    var record = NotificationRecord.v2(
      jws: Array(try signed(payload).utf8), payload: ResponseBodyV2DecodedPayload(json: payload),
      transaction: JWSTransactionDecodedPayload(json: transaction.json), renewalInfo: nil, appTransaction: nil,
      origin: .post, traceParent: nil, router: router)
    record.topic = family.topic
    return record.producerRecord
  }

  /// Returns the record of a version 1 notification about a refund, which is not signed.
  func hint(of refund: TransactionPayload, cancelledAt time: Timestamp, at now: Timestamp) throws -> ProducerRecord {
    let row: JSONObject = [
      "original_transaction_id": .string(refund.originalTransactionId),
      "transaction_id": .string(refund.transactionId), "product_id": .string(refund.productId),
      "purchase_date_ms": .string("\(refund.purchaseDate.millisecondsSince1970)"),
      "cancellation_date_ms": .string("\(time.millisecondsSince1970)"),
    ]
    let body: JSONObject = [
      "notification_type": "REFUND", "environment": "PROD", "bid": .string(app.bundleId),
      "original_transaction_id": .string(refund.originalTransactionId),
      "unified_receipt": .object(["environment": "Production", "latest_receipt_info": .array([.object(row)])]),
    ]
    var record = NotificationRecord.v1(
      value: body.serialized(), body: ResponseBodyV1(json: body), bundleId: app.bundleId, receivedAt: now,
      origin: .post, traceParent: nil, router: router)
    record.topic = NotificationFamily.refunds.topic
    return record.producerRecord
  }

  // MARK: - What Apple serves

  /// Serves a call that a process sends now.
  /// - Parameter answer: Does what the call asks for.
  func serve(
    _ request: ExchangeRequest, of process: Simulation.ProcessID,
    _ reply: Reply<Result<ExchangeAnswer, TransportFailure>>, _ answer: @escaping (AppleCall) -> ExchangeAnswer
  ) {
    let call = AppleCall(request)
    func latency() -> Duration { SeedGenerator.duration(.milliseconds(2) ... .milliseconds(300)) }
    func apply(after delay: Duration, _ end: @escaping (ExchangeAnswer) -> Void) {
      Simulation.deliver(to: .world, after: delay) { [timeline] in
        let result = answer(call)
        timeline.add("apple", "\(call.description) of p\(process.number): \(result.status)")
        end(result)
      }
    }
    func resolve(after delay: Duration, _ result: Result<ExchangeAnswer, TransportFailure>) {
      Simulation.deliver(to: process, after: delay) { reply.resolve(result) }
    }
    let fate = faults.fate()
    if case .answered = fate {
      return apply(after: latency()) { result in resolve(after: latency(), .success(result)) }
    }
    timeline.add("fault", "\(call.description) of p\(process.number): \(fate)")
    switch fate {
    case .answered: break
    case .refused: resolve(after: latency(), .failure(TransportFailure("no connection", .notSent)))
    case .limited: resolve(after: latency(), .success(Self.limited))
    case .error(let takesEffect):
      guard takesEffect else { return resolve(after: latency(), .success(Self.failed)) }
      apply(after: latency()) { _ in resolve(after: latency(), .success(Self.failed)) }
    case .lostRequest: resolve(after: latency(), .failure(TransportFailure("the connection broke", .unclear)))
    case .lostAnswer:
      resolve(after: latency(), .failure(TransportFailure("the connection broke", .unclear)))
      apply(after: SeedGenerator.duration(.zero ... .seconds(3))) { _ in }
    case .silence(let takesEffect): if takesEffect { apply(after: latency()) { _ in } }
    }
  }

  /// Returns the answer about the status of one subscription.
  func statuses(of transaction: TransactionPayload, _ status: Status) throws -> ExchangeAnswer {
    let item: JSONObject = [
      "originalTransactionId": .string(transaction.originalTransactionId), "status": status.jsonValue,
      "signedTransactionInfo": .string(try signed(transaction.json)),
    ]
    let group: JSONObject = [
      "subscriptionGroupIdentifier": "group", "lastTransactions": .array([.object(item)]),
    ]
    return ExchangeAnswer(
      status: 200,
      body: Self.json([
        "environment": app.environment.jsonValue, "bundleId": .string(app.bundleId),
        "appAppleId": .integer(app.appAppleId), "data": .array([.object(group)]),
      ]))
  }

  private static var limited: ExchangeAnswer {
    ExchangeAnswer(
      status: 429, headers: ["Retry-After": "\(SeedGenerator.number(1...8))"],
      body: json(["errorCode": 4_290_000, "errorMessage": "Rate limit exceeded."]))
  }

  private static let failed = ExchangeAnswer(
    status: 500, body: json(["errorCode": 5_000_000, "errorMessage": "An unknown error occurred."]))

  static func json(_ object: JSONObject) -> [UInt8] { object.serialized() }
  static func refusal(_ status: Int, _ code: Int64) -> ExchangeAnswer {
    ExchangeAnswer(status: status, body: json(["errorCode": .integer(code), "errorMessage": "refused"]))
  }
}

/// Sends the calls of one process to the model.
struct AppleExchange: HTTPExchange {
  let fleet: Fleet
  let process: Simulation.ProcessID

  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    let reply = Reply<Result<ExchangeAnswer, TransportFailure>>()
    guard let workload = fleet.workload else { throw TransportFailure("there is no Apple", .notSent) }
    workload.apple.serve(request, of: process, reply) { call in
      do { return try workload.apple.history.answer(to: call) ?? workload.answer(to: call) } catch {
        fleet.journal.problem("Apple cannot answer \(call.description): \(error)")
        return AppleModel.refusal(500, 5_000_000)
      }
    }
    let end = await withTaskCancellationHandler {
      await reply.wait()
    } onCancel: {
      reply.resolve(.failure(TransportFailure("cancelled", .unclear, isCancellation: true)))
    }
    return try end.get()
  }
}
