// Implements `millrace api extend`: extends the subscription of one customer. It cannot be undone and the customer gets an
// e-mail, so everything that can be checked is checked before, and each request is in the audit trail.

package import AppStore
package import AppStoreServerAPI
package import MillraceTime
internal import MillraceRecords
package import RenewalExtensions

/// Extends the renewal date of one subscription.
package struct ExtendOperation: Sendable {
  private let client: AppStoreServerClient
  private let environment: AppStoreEnvironment
  private let audit: AuditLog
  private let author: String
  private let clock: MillraceClock

  /// The number of extensions that Apple allows within ``year``.
  static let limit = 2
  /// The time for which Apple counts extensions.
  static let year = Duration.seconds(365 * 86_400)

  /// Creates an operation for one app and environment.
  /// - Parameter author: The operator.
  package init(
    _ client: AppStoreServerClient, in environment: AppStoreEnvironment, audit: AuditLog, by author: String,
    clock: MillraceClock
  ) {
    (self.client, self.environment, self.audit) = (client, environment, audit)
    (self.author, self.clock) = (author, clock)
  }

  /// A request that passed all checks.
  package struct Plan: Sendable, Hashable {
    /// The subscription.
    package var original: String
    /// The request.
    package var request: ExtendRenewalDateRequest
    /// Its present period.
    package var present: JWSTransactionDecodedPayload
    /// An earlier request with the same identifier; nil if there was none, or if it had no effect.
    package var earlier: Earlier?
    /// The requests of the last year with other identifiers whose outcome is unknown.
    var open: [AuditEntry] = []
    /// The runs that the audit trail had.
    var seen: Set<String> = []

    /// The plan as text.
    package var lines: [String] {
      let days = HumanText.count(request.extendByDays ?? 0, "day")
      let reason = request.extendReasonCode.map { "\($0.rawValue) (\(CampaignWords.reason($0)))" } ?? ""
      let end = present.expiresDate.map { RecordView.seconds($0) } ?? "an unknown time"
      return [
        "Subscription \(original), \(present.productId ?? "unknown product"), whose period ends \(end):",
        "  \(days), reason \(reason), requestIdentifier \(request.requestIdentifier ?? "")",
        "Apple extends a subscription twice in 365 days at most, and e-mails the customer. This cannot be undone.",
      ]
        + open.map { entry in
          let identifier = entry.selection?.text("requestIdentifier") ?? ""
          return "It may be extended already: the outcome of the request of \(RecordView.seconds(entry.startedAt)) by "
            + "\(entry.by) is unknown. To find out: --request-identifier \(identifier)"
        }
    }
  }

  /// An earlier request.
  package struct Earlier: Sendable, Hashable {
    /// Its outcome.
    package var answer: ExtensionAnswer
    /// Its entry in the audit trail.
    var entry: AuditEntry
    /// Whether the audit trail has this outcome.
    var isRecorded: Bool
    /// The end of the period before it.
    var end: Timestamp?
  }

  /// Checks a request with what Apple and the audit trail know. Extends nothing.
  ///
  /// - Parameters:
  ///   - id: The subscription's original transaction.
  ///   - identifier: The `requestIdentifier`; nil for a new one. An earlier one repeats its request.
  /// - Throws: ``OperationError`` that names what forbids the extension; `APIError`.
  package func plan(_ id: String, days: Int, reason: Int, identifier: String?) async throws -> Plan {
    let request = try Self.request(days: days, reason: reason, identifier: identifier)
    let state = try await client.getAllSubscriptionStatuses(id, in: environment).value.flatMap(\.subscriptions)
      .first { $0.originalTransactionId == id }
    guard let state, let present = state.transaction?.payload else {
      throw Self.refusal("Apple has no subscription with this originalTransactionId", id)
    }
    let entries = try await entries(of: id)
    var plan = Plan(original: id, request: request, present: present)
    plan.seen = Set(entries.map(\.run))
    plan.earlier = try Self.earlier(plan, in: entries)
    guard plan.earlier == nil else { return plan }
    try Self.check(state, present, id, now: clock.wallTime)
    plan.open = open(in: entries, besides: plan)
    let recent = entries.count { $0.result?.rawValue == "done" && $0.startedAt > clock.wallTime - Self.year }
    guard recent < Self.limit else {
      throw Self.refusal("it was extended \(recent) times within 365 days, and Apple allows \(Self.limit)", id)
    }
    return plan
  }

  /// Returns the request, with a new identifier if there is none.
  /// - Throws: ``OperationError`` if Apple would refuse it for every subscription.
  package static func request(days: Int, reason: Int, identifier: String?) throws -> ExtendRenewalDateRequest {
    let request = ExtendRenewalDateRequest(
      extendByDays: days, extendReasonCode: ExtendReasonCode(rawValue: reason),
      requestIdentifier: identifier ?? CampaignStart.newID())
    if let violation = request.violations().first {
      throw OperationError(
        .usage, "\(violation.rule.rawValue), \(violation.found)", at: flags[violation.field] ?? violation.field,
        remedy: "see \(violation.page)")
    }
    return request
  }

  private func entries(of id: String) async throws -> [AuditEntry] {
    try await audit.trail().entries.filter { $0.action == .extend && $0.target == id }
  }

  /// Sends a request. The audit trail has it before Apple. If an earlier request had its effect, nothing is sent.
  /// - Throws: ``OperationError`` if another request began since the plan; `APIError` if Apple has not answered and nothing
  ///   was extended.
  package func run(_ plan: Plan, why: String) async throws -> ExtensionAnswer {
    let run = CommandID.new()
    func record(_ phase: AuditRecord.Phase) -> AuditRecord {
      AuditRecord(
        run: run, .extend, phase, by: author, source: "millrace", at: clock.wallTime, why: why, target: plan.original,
        selection: plan.selection(bundleId: client.bundleId, environment))
    }
    if let earlier = plan.earlier {
      guard case .applied = earlier.answer, !earlier.isRecorded else { return earlier.answer }
      // A run ends once. One that has ended as unclear stays so, and this one has the outcome.
      let done = AuditRecord.Result(rawValue: "done", detail: "an earlier request took effect; nothing was sent")
      try await audit.append(
        earlier.entry.isOver
          ? [
            record(.started(parts: 1)), record(.ended(part: AuditRecord.everything, result: done, counts: [])),
          ] : [earlier.entry.end(done, [], by: author, source: "millrace", at: clock.wallTime)])
      return earlier.answer
    }
    try await audit.append([record(.started(parts: 1))])
    do {
      // Each run reads after it has written, so of two at the same time at least one sees the other.
      let others = try await entries(of: plan.original)
      if let other = others.last(where: { $0.run != run && !plan.seen.contains($0.run) && !$0.hasFailed }) {
        throw OperationError(
          .failed, "\(other.by) has requested an extension since, at \(other.startedAt.rfc3339)", at: plan.original,
          remedy: "run the command again, which shows what became of it")
      }
    } catch {
      await audit.endEarly(by: error) { record(.ended(part: AuditRecord.everything, result: $0, counts: [])) }
      throw error
    }
    let answer: ExtensionAnswer
    do {
      let response = try await client.extendSubscriptionRenewalDate(plan.original, plan.request, in: environment)
      answer = ExtensionAnswer(response.value)
    } catch {
      if let final = ExtensionAnswer(error) {
        answer = final
      } else if error.isUnclear {
        answer = .unclear("\(error)")
      } else {
        await audit.endEarly(by: error) { record(.ended(part: AuditRecord.everything, result: $0, counts: [])) }
        throw error
      }
    }
    await audit.endRegardless(record(.ended(part: AuditRecord.everything, result: answer.audited, counts: [])))
    return answer
  }

  private static let flags = [
    "extendByDays": "--days", "extendReasonCode": "--reason", "requestIdentifier": "--request-identifier",
  ]

  private static func refusal(_ what: String, _ id: String) -> OperationError {
    OperationError(.failed, what, at: id, remedy: "see millrace api statuses \(id)")
  }

  /// Apple's conditions, as far as the present state shows them.
  private static func check(
    _ state: SubscriptionState, _ present: JWSTransactionDecodedPayload, _ id: String, now: Timestamp
  ) throws(OperationError) {
    // Apple excludes a billing grace period only if the period has ended.
    let isRunning = present.expiresDate.map { $0 > now } ?? false
    guard state.status == .active || state.status == .billingGracePeriod && isRunning else {
      let status = state.status.map { "\($0)" } ?? "unknown"
      throw refusal(
        "Apple extends active subscriptions only, or in a billing grace period before the period's end; its status is "
          + status, id)
    }
    guard present.inAppOwnershipType != .familyShared else {
      throw refusal("it is shared by a family member; extend the purchaser's subscription", id)
    }
    guard present.offerDiscountType != .freeTrial else {
      throw refusal("it is in a free trial, which Apple does not extend", id)
    }
  }

  /// Returns the last entry of each request of the last year whose outcome is unknown.
  private func open(in entries: [AuditEntry], besides plan: Plan) -> [AuditEntry] {
    Dictionary(grouping: entries) { $0.selection?.text("requestIdentifier") ?? "" }.compactMap { identifier, same in
      guard identifier != plan.request.requestIdentifier, let last = same.last,
        last.startedAt > clock.wallTime - Self.year,
        !same.contains(where: { $0.result?.rawValue == "done" }),
        !same.allSatisfy(\.hasFailed)
      else { return nil }
      return last
    }.sorted { $0.startedAt < $1.startedAt }
  }

  /// Returns the earlier request with the plan's identifier; nil if there was none, or if it had no effect.
  private static func earlier(_ plan: Plan, in entries: [AuditEntry]) throws(OperationError) -> Earlier? {
    let (identifier, request) = (plan.request.requestIdentifier, plan.request.json)
    let same = entries.filter { $0.selection?.text("requestIdentifier") == identifier }
    guard let last = same.last else { return nil }
    for (field, flag) in [("extendByDays", "--days"), ("extendReasonCode", "--reason")]
    where last.selection?[field] != request[field] {
      throw OperationError(
        .usage, "the earlier request with this identifier had another \(field)", at: flag,
        remedy: "pass the same value; see millrace audit --json")
    }
    // Apple refused each of them, or none was sent.
    guard !same.allSatisfy({ $0.result?.rawValue == "failed" }) else { return nil }
    var before = JSONObject()
    if case .object(let period)? = last.selection?["before"] { before = period }
    let old = JWSTransactionDecodedPayload(json: before)
    let check = ExtensionCheck.judge(before: old, present: plan.present, days: plan.request.extendByDays ?? 0)
    func earlier(_ answer: ExtensionAnswer, isRecorded: Bool = false) -> Earlier {
      Earlier(answer: answer, entry: last, isRecorded: isRecorded, end: old.expiresDate)
    }
    // The dates may have changed since for other reasons, so a known outcome comes first.
    let isDone = same.contains { $0.result?.rawValue == "done" }
    switch check {
    case .applied(let end): return earlier(.applied(effectiveDate: end), isRecorded: isDone)
    case _ where isDone: return earlier(.applied(effectiveDate: nil), isRecorded: true)
    case .notApplied: return nil
    case .cannotTell(let why): return earlier(.unclear(why))
    }
  }
}

extension ExtendOperation.Plan {
  /// The dates by which an operator recognizes whether an earlier request had its effect.
  fileprivate var evidence: String {
    let days = request.extendByDays ?? 0
    guard let end = earlier?.end else {
      return "if it was extended, its period ends \(HumanText.count(days, "day")) later than the plan says."
    }
    let later = end + .seconds(86_400 * days)
    return
      "its period ended \(RecordView.seconds(end)) before the request; if it was extended, that period ends, or the "
      + "next one began, about \(RecordView.seconds(later))."
  }

  /// The request for the audit trail, with the period by which a repetition recognizes its effect.
  func selection(bundleId: String, _ environment: AppStoreEnvironment) -> JSONObject {
    var json = request.json
    json["bundleId"] = .string(bundleId)
    json["environment"] = .string(environment.rawValue)
    let fields = ["transactionId", "purchaseDate", "expiresDate"]
    json["before"] = .object(JSONObject(present.json.members.filter { fields.contains($0.key) }))
    return json
  }
}

extension ExtensionAnswer {
  fileprivate var audited: AuditRecord.Result {
    switch self {
    case .applied: .done
    case .refused(let refusal): .failed(refusal.message ?? refusal.reason.rawValue)
    case .unclear(let why): AuditRecord.Result(rawValue: "unclear", detail: why)
    }
  }

  /// The answer as a sentence for the operator.
  package func sentence(_ plan: ExtendOperation.Plan) -> String {
    switch self {
    case .applied(let date):
      "Apple extended \(plan.original)" + (date.map { " until \(RecordView.seconds($0))" } ?? "") + "."
    case .refused(let refusal):
      "Apple refused to extend \(plan.original): \(refusal.message ?? refusal.reason.rawValue)"
    case .unclear(let why) where plan.earlier != nil:
      "Apple may have extended \(plan.original): \(why). Nothing was sent. See millrace api statuses \(plan.original): "
        + plan.evidence + " If it was not extended, send a new request without --request-identifier."
    case .unclear(let why):
      "Apple may have extended \(plan.original): \(why). To ask Apple and, if it was not extended, to send the same "
        + "request again: --request-identifier \(plan.request.requestIdentifier ?? "")"
    }
  }

  /// The exit status of the command.
  package var status: CommandStatus {
    if case .applied = self { .success } else { .failure }
  }
}
