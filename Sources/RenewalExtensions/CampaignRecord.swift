// Campaigns as records of `millrace.campaigns`, a compacted topic. What has different writers has different keys, so that
// nobody overwrites what another wrote at the same time: the operator's command writes the campaign, its cancellation and
// resolutions, whoever hears of it first the completion.

public import AppStore
public import Kafka

/// One record of the topic of campaigns.
public enum CampaignRecord: Sendable, Hashable {
  /// A campaign as it was asked for.
  case campaign(Campaign)
  /// Apple is done.
  case completion(campaign: String, Campaign.Completion)
  /// No retries any more.
  case cancellation(campaign: String, Campaign.Cancellation)
  /// These notifications belong to this campaign, an operator says.
  case resolution(CampaignResolution)

  /// The topic's name, without the deployment's prefix.
  public static let topic = "millrace.campaigns"
}

/// What an operator decided about failures that belong to no campaign or to several.
public struct CampaignResolution: Sendable, Hashable {
  /// The most notifications in one record.
  public static let maximumCount = 1_000

  /// Names the decision.
  public var id: String
  /// The campaign.
  public var campaign: String
  /// `notificationUUID` of each failure.
  public var notifications: [String]
  /// When.
  public var at: Timestamp
  /// Who.
  public var by: String
  /// Why.
  public var why: String

  /// A decision.
  public init(id: String, campaign: String, notifications: [String], at: Timestamp, by: String, why: String) {
    self.id = id
    self.campaign = campaign
    self.notifications = notifications
    self.at = at
    self.by = by
    self.why = why
  }
}

/// Why a record of the topic cannot be read.
public struct CampaignRecordError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public var description: String
}

extension CampaignRecord {
  /// The record's key.
  public var key: String {
    switch self {
    case .campaign(let campaign): "campaign/\(campaign.id)"
    case .completion(let campaign, _): "completion/\(campaign)"
    case .cancellation(let campaign, _): "cancellation/\(campaign)"
    case .resolution(let resolution): "resolution/\(resolution.id)"
    }
  }

  /// The record's value.
  public var json: JSONObject {
    switch self {
    case .campaign(let campaign): campaign.json
    case .completion(let campaign, let completion):
      [
        "kind": "completion", "campaign": .string(campaign), "at": completion.at.jsonValue,
        "succeeded": .integer(completion.succeeded), "failed": .integer(completion.failed),
      ]
    case .cancellation(let campaign, let cancellation):
      [
        "kind": "cancellation", "campaign": .string(campaign), "at": cancellation.at.jsonValue,
        "by": .string(cancellation.by), "why": .string(cancellation.why),
      ]
    case .resolution(let resolution):
      [
        "kind": "resolution", "resolution": .string(resolution.id), "campaign": .string(resolution.campaign),
        "notifications": resolution.notifications.jsonValue, "at": resolution.at.jsonValue,
        "by": .string(resolution.by), "why": .string(resolution.why),
      ]
    }
  }

  /// The record on its way to Kafka.
  /// - Parameter prefix: The deployment's.
  public func record(prefix: String) -> ProducerRecord {
    ProducerRecord(
      topic: prefix + Self.topic, partition: 0, key: Array(key.utf8), value: json.serialized(),
      headers: [RecordHeader("content-type", "application/json")])
  }

  /// Reads a record's value. Fields that this version does not know are left alone.
  public init(_ value: [UInt8]) throws(CampaignRecordError) {
    let json: JSONObject
    do { json = try JSONObject(parsing: value) } catch { throw CampaignRecordError(description: "\(error)") }
    let fields = Fields(json: json)
    switch try fields.required("kind") as String {
    case "campaign": self = .campaign(try Campaign(fields))
    case "completion":
      self = .completion(
        campaign: try fields.campaign(),
        Campaign.Completion(
          at: try fields.required("at"), succeeded: try fields.required("succeeded"),
          failed: try fields.required("failed")))
    case "cancellation":
      self = .cancellation(
        campaign: try fields.campaign(),
        Campaign.Cancellation(
          at: try fields.required("at"), by: fields.text("by"), why: fields.text("why")))
    case "resolution":
      self = .resolution(
        CampaignResolution(
          id: try fields.required("resolution"), campaign: try fields.campaign(),
          notifications: try fields.required("notifications"), at: try fields.required("at"), by: fields.text("by"),
          why: fields.text("why")))
    case let kind: throw CampaignRecordError(description: "a record of kind \(kind.prefix(40))")
    }
  }
}

/// Typed reading of one object.
private struct Fields {
  var json: JSONObject

  func required<Value: JSONRepresentable>(_ name: String) throws(CampaignRecordError) -> Value {
    guard let value: Value = optional(name) else {
      throw CampaignRecordError(description: "\(name) is missing or of another type")
    }
    return value
  }

  func optional<Value: JSONRepresentable>(_ name: String) -> Value? { json[name].flatMap { Value(jsonValue: $0) } }
  func text(_ name: String) -> String { optional(name) ?? "" }
  func campaign() throws(CampaignRecordError) -> String { (try required("campaign") as String).lowercased() }
}

extension Campaign {
  fileprivate var json: JSONObject {
    var json: JSONObject = [
      "kind": "campaign", "campaign": .string(id), "state": .string(state.rawValue), "bundleId": .string(bundleId),
      "environment": environment.jsonValue, "productId": .string(productId), "extendByDays": days.jsonValue,
      "extendReasonCode": reason.jsonValue,
    ]
    json["storefrontCountryCodes"] = storefronts?.jsonValue
    json["requestedAt"] = requestedAt.jsonValue
    json["by"] = .string(by)
    json["code"] = code.map { .integer($0) }
    return json
  }

  fileprivate init(_ fields: Fields) throws(CampaignRecordError) {
    // A storefront that cannot be read must not become "all".
    let storefronts: [String]? =
      fields.json["storefrontCountryCodes"] == nil ? nil : try fields.required("storefrontCountryCodes")
    self.init(
      id: try fields.campaign(), bundleId: try fields.required("bundleId"),
      environment: try fields.required("environment"), productId: try fields.required("productId"),
      days: try fields.required("extendByDays"), reason: try fields.required("extendReasonCode"),
      storefronts: storefronts, requestedAt: try fields.required("requestedAt"), by: fields.text("by"))
    let name: String = try fields.required("state")
    guard let state = State(rawValue: name) else {
      throw CampaignRecordError(description: "a campaign in state \(name.prefix(40))")
    }
    self.state = state
    code = fields.optional("code")
  }
}
