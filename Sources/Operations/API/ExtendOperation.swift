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
    /// The outcome of an earlier request with the same identifier; nil if there was none, or if it had no effect.
    package var earlier: ExtensionAnswer?

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
    }
  }

  /// Checks a request with what Apple and the audit trail know. Extends nothing.
  ///
  /// - Parameters:
  ///   - id: The subscription's original transaction.
  ///   - identifier: The `requestIdentifier`; nil for a new one. An earlier one repeats its request.
  /// - Throws: ``OperationError`` that names what forbids the extension; `APIError`.
  package func plan(_ id: String, days: Int, reason: Int, identifier: String?) async throws -> Plan {
    let request = ExtendRenewalDateRequest(
      extendByDays: days, extendReasonCode: ExtendReasonCode(rawValue: reason),
      requestIdentifier: identifier ?? CampaignStart.newID())
    if let violation = request.violations().first {
      throw OperationError(
        .usage, "\(violation.rule.rawValue), \(violation.found)", at: Self.flags[violation.field] ?? violation.field,
        remedy: "see \(violation.page)")
    }
    let state = try await client.getAllSubscriptionStatuses(id, in: environment).value.flatMap(\.subscriptions)
      .first { $0.originalTransactionId == id }
    guard let state, let present = state.transaction?.payload else {
      throw Self.refusal("Apple has no subscription with this originalTransactionId", id)
    }
    let entries = try await audit.trail().entries.filter { $0.action == .extend && $0.target == id }
    if let identifier, let entry = entries.last(where: { $0.selection?["requestIdentifier"]?.string == identifier }) {
      guard entry.selection?["extendByDays"] == .integer(Int64(days)) else {
        throw OperationError(
          .usage, "the earlier request with this identifier had other days", at: "--days",
          remedy: "pass the same days; see millrace audit --json")
      }
      return Plan(
        original: id, request: request, present: present, earlier: Self.outcome(of: entry, now: present, days: days))
    }
    try Self.check(state, present, id)
    let recent = entries.count { $0.result?.rawValue == "done" && $0.startedAt > clock.wallTime - Self.year }
    guard recent < Self.limit else {
      throw Self.refusal("it was extended \(recent) times within 365 days, and Apple allows \(Self.limit)", id)
    }
    return Plan(original: id, request: request, present: present)
  }

  /// Sends a request. The audit trail has it before Apple.
  /// - Throws: `APIError` if Apple has not answered and nothing was extended.
  package func run(_ plan: Plan, why: String) async throws -> ExtensionAnswer {
    if let earlier = plan.earlier { return earlier }
    let run = CommandID.new()
    func record(_ phase: AuditRecord.Phase) -> AuditRecord {
      AuditRecord(
        run: run, .extend, phase, by: author, source: "millrace", at: clock.wallTime, why: why, target: plan.original,
        selection: plan.selection(bundleId: client.bundleId, environment))
    }
    try await audit.append([record(.started(parts: 1))])
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
    _ state: SubscriptionState, _ present: JWSTransactionDecodedPayload, _ id: String
  ) throws(OperationError) {
    guard state.status == .active else {
      let status = state.status.map { "\($0)" } ?? "unknown"
      throw refusal("Apple extends active subscriptions only, and its status is \(status)", id)
    }
    guard present.inAppOwnershipType != .familyShared else {
      throw refusal("it is shared by a family member; extend the purchaser's subscription", id)
    }
    guard present.offerDiscountType != .freeTrial else {
      throw refusal("it is in a free trial, which Apple does not extend", id)
    }
  }

  /// The outcome of an earlier request; nil if it had no effect.
  private static func outcome(
    of entry: AuditEntry, now present: JWSTransactionDecodedPayload, days: Int
  ) -> ExtensionAnswer? {
    var before = JSONObject()
    if case .object(let period)? = entry.selection?["before"] { before = period }
    switch ExtensionCheck.judge(
      before: JWSTransactionDecodedPayload(json: before), present: present, days: days)
    {
    case .applied(let end): return .applied(effectiveDate: end)
    case .notApplied: return nil
    case .cannotTell(let why): return .unclear(why)
    }
  }
}

extension ExtendOperation.Plan {
  /// The request for the audit trail, with the period by which a repetition recognizes its effect.
  fileprivate func selection(bundleId: String, _ environment: AppStoreEnvironment) -> JSONObject {
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

extension JSON {
  fileprivate var string: String? { if case .string(let text) = self { text } else { nil } }
}
