// The worker's events. Each has a JSON Schema in topics/schemas. Times are in RFC 3339.

internal import AppStore
internal import MillraceWorker

/// The common members of events, encoded next to an event's own members.
struct EventFacts: Encodable, Sendable, Hashable {
  var campaign: String
  var bundleId: String
  var environment: String
  var productId: String
  /// In events about one subscription.
  var originalTransactionId: String?
  /// In events about a request to Apple.
  var requestIdentifier: String?
  /// In events about a request to Apple.
  var extendByDays: Int?

  init(_ campaign: Campaign) {
    self.campaign = campaign.id
    bundleId = campaign.bundleId
    environment = campaign.environment.rawValue
    productId = campaign.productId
  }

  /// Creates the members for a subscription without a request to Apple.
  init(_ campaign: Campaign, _ subject: ExtensionSubject) {
    self.init(campaign)
    originalTransactionId = subject.originalTransactionId
  }

  /// Creates the members for the retry of one subscription.
  static func request(_ campaign: Campaign, _ subject: ExtensionSubject) -> EventFacts {
    var facts = EventFacts(campaign, subject)
    facts.requestIdentifier = ExtensionRequest.identifier(
      campaign: campaign.id, originalTransactionId: subject.originalTransactionId)
    facts.extendByDays = campaign.days
    return facts
  }
}

/// An event whose JSON contains the common members and its own.
protocol CampaignEvent: WorkerEvent {
  associatedtype Details: Encodable
  var about: EventFacts { get }
  var details: Details { get }
}

extension CampaignEvent {
  func encode(to encoder: any Encoder) throws {
    try about.encode(to: encoder)
    try details.encode(to: encoder)
  }
}

/// `extension.applied`: the worker's retry moved the renewal date of one subscription.
struct ExtensionApplied: CampaignEvent, Hashable {
  static let eventName = "extension.applied"

  struct Details: Encodable, Sendable, Hashable {
    /// The new renewal date; absent if Apple's response was lost and the subscription has renewed since.
    var effectiveDate: String?
  }

  var about: EventFacts
  var details: Details
}

/// `extension.refused`: Apple will not extend this subscription.
struct ExtensionRefused: CampaignEvent, Hashable {
  static let eventName = "extension.refused"

  struct Details: Encodable, Sendable, Hashable {
    /// ``ExtensionAnswer/Reason``.
    var reason: String
    /// Apple's error code; absent if there is none.
    var code: Int64?
    /// Apple's error message.
    var message: String?
  }

  var about: EventFacts
  var details: Details
}

/// `extension.unclear`: it is unknown whether the renewal date moved, and the worker sends nothing further.
struct ExtensionUnclear: CampaignEvent, Hashable {
  static let eventName = "extension.unclear"

  struct Details: Encodable, Sendable, Hashable {
    /// Why the result is unknown.
    var why: String
  }

  var about: EventFacts
  var details: Details
}

/// `extension.withheld`: the worker made no call because an operator had cancelled the campaign's retries.
struct ExtensionWithheld: CampaignEvent, Hashable {
  static let eventName = "extension.withheld"

  struct Details: Encodable, Sendable, Hashable {
    /// The operator who cancelled.
    var by: String
    /// The operator's reason.
    var why: String
  }

  var about: EventFacts
  var details: Details
}

/// `campaign.completed`: Apple completed a mass extension.
struct CampaignCompleted: CampaignEvent, Hashable {
  static let eventName = "campaign.completed"

  struct Details: Encodable, Sendable, Hashable {
    var completedAt: String
    /// Subscriptions that the mass extension extended.
    var succeeded: Int64
    /// Subscriptions that it did not extend.
    var failed: Int64
  }

  var about: EventFacts
  var details: Details
  var eventKey: String? { about.campaign }
}

/// `campaign.differs`: seven days after the completion, the worker's counts differ from Apple's.
struct CampaignDiffers: CampaignEvent, Hashable {
  static let eventName = "campaign.differs"

  /// Apple's counts.
  struct Apple: Encodable, Sendable, Hashable {
    var succeeded: Int64
    var failed: Int64
  }

  /// The worker's counts from notifications.
  struct Seen: Encodable, Sendable, Hashable {
    /// RENEWAL_EXTENDED notifications that match only this campaign and no call of the worker.
    var extended: Int64
    /// The same for family members.
    var shared: Int64
    /// RENEWAL_EXTENDED notifications that match this campaign and others.
    var ambiguous: Int64
    /// Failures that the worker has handled or started to handle, including those that wait.
    var failures: Int64
    /// Failures that wait for an answer from Apple.
    var waiting: Int64
  }

  struct Details: Encodable, Sendable, Hashable {
    var apple: Apple
    var seen: Seen
  }

  var about: EventFacts
  var details: Details
  var eventKey: String? { about.campaign }
}

extension ExtensionAnswer {
  func event(_ campaign: Campaign, _ subject: ExtensionSubject) throws -> Outcome {
    let about = EventFacts.request(campaign, subject)
    return switch self {
    case .applied(let date):
      try .emit(ExtensionApplied(about: about, details: .init(effectiveDate: date?.rfc3339)))
    case .refused(let refusal):
      try .emit(
        ExtensionRefused(
          about: about,
          details: .init(reason: refusal.reason.rawValue, code: refusal.code, message: refusal.message)))
    case .unclear(let why):
      try .emit(ExtensionUnclear(about: about, details: .init(why: why)))
    }
  }
}
