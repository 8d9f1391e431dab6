// What the worker tells the world. Each has a JSON Schema in topics/schemas; moments are RFC 3339.

internal import AppStore
internal import Millrace

/// `extension.applied`: the renewal date of one subscription moved by our retry.
struct ExtensionApplied: WorkerEvent, Hashable {
  static let eventName = "extension.applied"
  var campaign: String
  var bundleId: String
  var environment: String
  var productId: String
  var originalTransactionId: String
  var requestIdentifier: String
  var extendByDays: Int
  /// The new renewal date; absent where Apple's answer was lost and the subscription renewed since.
  var effectiveDate: String?
}

/// `extension.refused`: Apple will not extend this subscription.
struct ExtensionRefused: WorkerEvent, Hashable {
  static let eventName = "extension.refused"
  var campaign: String
  var bundleId: String
  var environment: String
  var productId: String
  var originalTransactionId: String
  var requestIdentifier: String
  var extendByDays: Int
  /// ``ExtensionAnswer/Reason``.
  var reason: String
  /// Apple's error code; absent where Apple gave none.
  var code: Int64?
  /// Apple's words.
  var message: String?
}

/// `extension.unclear`: nobody can tell whether the renewal date moved, and nothing will be sent any more.
struct ExtensionUnclear: WorkerEvent, Hashable {
  static let eventName = "extension.unclear"
  var campaign: String
  var bundleId: String
  var environment: String
  var productId: String
  var originalTransactionId: String
  var requestIdentifier: String
  var extendByDays: Int
  /// Why nobody can tell.
  var why: String
}

/// `extension.withheld`: an operator had cancelled the campaign's retries, so Apple was not asked.
struct ExtensionWithheld: WorkerEvent, Hashable {
  static let eventName = "extension.withheld"
  var campaign: String
  var bundleId: String
  var environment: String
  var productId: String
  var originalTransactionId: String
  /// Who cancelled.
  var by: String
  /// Why.
  var why: String
}

/// `campaign.completed`: Apple is done with a mass extension.
struct CampaignCompleted: WorkerEvent, Hashable {
  static let eventName = "campaign.completed"
  var campaign: String
  var bundleId: String
  var environment: String
  var productId: String
  var completedAt: String
  /// Subscriptions that the mass extension reached.
  var succeeded: Int64
  /// Subscriptions that it did not.
  var failed: Int64
  var eventKey: String? { campaign }
}

/// `campaign.differs`: seven days after its completion we have not seen what Apple counted.
struct CampaignDiffers: WorkerEvent, Hashable {
  static let eventName = "campaign.differs"

  /// What Apple counted.
  struct Apple: Encodable, Sendable, Hashable {
    var succeeded: Int64
    var failed: Int64
  }

  /// What notifications told us.
  struct Seen: Encodable, Sendable, Hashable {
    /// RENEWAL_EXTENDED that belong to this campaign alone and answer no call of ours.
    var extended: Int64
    /// RENEWAL_EXTENDED that may belong to this campaign or to another.
    var ambiguous: Int64
    /// Failures that were taken up; the ones below are among them.
    var failures: Int64
    /// Failures that still wait for an answer.
    var waiting: Int64
  }

  var campaign: String
  var bundleId: String
  var environment: String
  var productId: String
  var apple: Apple
  var seen: Seen
  var eventKey: String? { campaign }
}

extension ExtensionAnswer {
  /// The event that tells of the answer.
  func event(_ campaign: Campaign, _ subject: ExtensionSubject) throws -> Outcome {
    let identifier = ExtensionRequest.identifier(
      campaign: campaign.id, originalTransactionId: subject.originalTransactionId)
    switch self {
    case .applied(let date):
      return try .emit(
        ExtensionApplied(
          campaign: campaign.id, bundleId: subject.bundleId, environment: subject.environment.rawValue,
          productId: subject.productId, originalTransactionId: subject.originalTransactionId,
          requestIdentifier: identifier, extendByDays: campaign.days, effectiveDate: date?.rfc3339))
    case .refused(let refusal):
      return try .emit(
        ExtensionRefused(
          campaign: campaign.id, bundleId: subject.bundleId, environment: subject.environment.rawValue,
          productId: subject.productId, originalTransactionId: subject.originalTransactionId,
          requestIdentifier: identifier, extendByDays: campaign.days, reason: refusal.reason.rawValue,
          code: refusal.code, message: refusal.message))
    case .unclear(let why):
      return try .emit(
        ExtensionUnclear(
          campaign: campaign.id, bundleId: subject.bundleId, environment: subject.environment.rawValue,
          productId: subject.productId, originalTransactionId: subject.originalTransactionId,
          requestIdentifier: identifier, extendByDays: campaign.days, why: why))
    }
  }
}
