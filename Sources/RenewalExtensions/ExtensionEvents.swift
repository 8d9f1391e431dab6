// What the worker tells the world. Each has a JSON Schema in topics/schemas; moments are RFC 3339.

internal import AppStore
internal import Millrace

/// What an event is about: its members stand beside the event's own.
struct EventFacts: Encodable, Sendable, Hashable {
  var campaign: String
  var bundleId: String
  var environment: String
  var productId: String
  /// Of events about one subscription.
  var originalTransactionId: String?
  /// Of events about a request to Apple.
  var requestIdentifier: String?
  /// Of events about a request to Apple.
  var extendByDays: Int?

  /// A campaign as a whole.
  init(_ campaign: Campaign) {
    self.campaign = campaign.id
    bundleId = campaign.bundleId
    environment = campaign.environment.rawValue
    productId = campaign.productId
  }

  /// One subscription that Apple was not asked about.
  init(_ campaign: Campaign, _ subject: ExtensionSubject) {
    self.init(campaign)
    originalTransactionId = subject.originalTransactionId
  }

  /// One subscription's retry.
  static func request(_ campaign: Campaign, _ subject: ExtensionSubject) -> EventFacts {
    var facts = EventFacts(campaign, subject)
    facts.requestIdentifier = ExtensionRequest.identifier(
      campaign: campaign.id, originalTransactionId: subject.originalTransactionId)
    facts.extendByDays = campaign.days
    return facts
  }
}

/// An event whose JSON has the members of both of its parts.
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

/// `extension.applied`: the renewal date of one subscription moved by our retry.
struct ExtensionApplied: CampaignEvent, Hashable {
  static let eventName = "extension.applied"

  struct Details: Encodable, Sendable, Hashable {
    /// The new renewal date; absent where Apple's answer was lost and the subscription renewed since.
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
    /// Apple's error code; absent where Apple gave none.
    var code: Int64?
    /// Apple's words.
    var message: String?
  }

  var about: EventFacts
  var details: Details
}

/// `extension.unclear`: nobody can tell whether the renewal date moved, and nothing will be sent any more.
struct ExtensionUnclear: CampaignEvent, Hashable {
  static let eventName = "extension.unclear"

  struct Details: Encodable, Sendable, Hashable {
    /// Why nobody can tell.
    var why: String
  }

  var about: EventFacts
  var details: Details
}

/// `extension.withheld`: an operator had cancelled the campaign's retries, so Apple was not asked.
struct ExtensionWithheld: CampaignEvent, Hashable {
  static let eventName = "extension.withheld"

  struct Details: Encodable, Sendable, Hashable {
    /// Who cancelled.
    var by: String
    /// Why.
    var why: String
  }

  var about: EventFacts
  var details: Details
}

/// `campaign.completed`: Apple is done with a mass extension.
struct CampaignCompleted: CampaignEvent, Hashable {
  static let eventName = "campaign.completed"

  struct Details: Encodable, Sendable, Hashable {
    var completedAt: String
    /// Subscriptions that the mass extension reached.
    var succeeded: Int64
    /// Subscriptions that it did not.
    var failed: Int64
  }

  var about: EventFacts
  var details: Details
  var eventKey: String? { about.campaign }
}

/// `campaign.differs`: seven days after its completion we have not seen what Apple counted.
struct CampaignDiffers: CampaignEvent, Hashable {
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
    /// The same of family members.
    var shared: Int64
    /// RENEWAL_EXTENDED that may belong to this campaign or to another.
    var ambiguous: Int64
    /// Failures that were taken up; the ones below are among them.
    var failures: Int64
    /// Failures that still wait for an answer.
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
  /// The event that tells of the answer.
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
