// Records of `millrace.campaigns`, a compacted topic. Data with different writers has different keys, so that writers
// do not overwrite each other. The operator's command writes the campaign, its cancellation and resolutions. The first
// process that learns of the completion writes it.

package import AppStore
package import KafkaClient

/// A record of the topic of campaigns.
package enum CampaignRecord: Sendable, Hashable {
  /// A campaign as requested.
  case campaign(Campaign)
  /// Apple completed the extension.
  case completion(campaign: String, Campaign.Completion)
  /// The extension was in progress at this time.
  case status(campaign: String, inProgressAt: Timestamp)
  /// An operator cancelled the retries.
  case cancellation(campaign: String, Campaign.Cancellation)
  /// An operator assigned notifications to the campaign.
  case resolution(CampaignResolution)

  /// The topic's name, without the deployment's prefix.
  package static let topic = "millrace.campaigns"
}

/// An operator's decision about failures that match no campaign or several.
package struct CampaignResolution: Sendable, Hashable {
  /// The largest number of notifications in one record.
  package static let maximumCount = 1_000

  /// The id of the decision.
  package var id: String
  /// The campaign.
  package var campaign: String
  /// `notificationUUID` of each failure.
  package var notifications: [String]
  /// When the operator decided.
  package var at: Timestamp
  /// The operator.
  package var by: String
  /// The operator's reason.
  package var why: String

  /// Creates a decision.
  package init(id: String, campaign: String, notifications: [String], at: Timestamp, by: String, why: String) {
    self.id = id
    self.campaign = campaign
    self.notifications = notifications
    self.at = at
    self.by = by
    self.why = why
  }
}

/// A record of the topic cannot be read.
package struct CampaignRecordError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The problem.
  package var description: String
}

extension CampaignRecord {
  /// The record's key.
  package var key: String {
    switch self {
    case .campaign(let campaign): "campaign/\(campaign.id)"
    case .completion(let campaign, _): "completion/\(campaign)"
    case .status(let campaign, _): "status/\(campaign)"
    case .cancellation(let campaign, _): "cancellation/\(campaign)"
    case .resolution(let resolution): "resolution/\(resolution.id)"
    }
  }

  /// The record's value.
  package var json: JSONObject {
    switch self {
    case .campaign(let campaign): campaign.json
    case .completion(let campaign, let completion):
      [
        "kind": "completion", "campaign": .string(campaign), "at": completion.at.jsonValue,
        "succeeded": .integer(completion.succeeded), "failed": .integer(completion.failed),
      ]
    case .status(let campaign, let time):
      ["kind": "status", "campaign": .string(campaign), "inProgressAt": time.jsonValue]
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

  /// Creates the Kafka record.
  /// - Parameter prefix: The prefix of every topic's name.
  package func record(prefix: String) -> ProducerRecord {
    ProducerRecord(
      topic: prefix + Self.topic, partition: 0, key: Array(key.utf8), value: json.serialized(),
      headers: [RecordHeader("content-type", "application/json")])
  }

  /// Parses a record's value. Ignores unknown fields.
  /// - Throws: ``CampaignRecordError`` if the value is malformed or of an unknown kind.
  package init(_ value: [UInt8]) throws(CampaignRecordError) {
    let json: JSONObject
    do { json = try JSONObject(parsing: value) } catch { throw CampaignRecordError(description: "\(error)") }
    let fields = CampaignFields(json: json)
    switch try fields.required("kind") as String {
    case "campaign": self = .campaign(try Campaign(fields))
    case "completion":
      self = .completion(
        campaign: try fields.campaign(),
        Campaign.Completion(
          at: try fields.required("at"), succeeded: try fields.required("succeeded"),
          failed: try fields.required("failed")))
    case "status":
      self = .status(campaign: try fields.campaign(), inProgressAt: try fields.required("inProgressAt"))
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
    case let kind: throw CampaignRecordError(description: "unknown record kind \(kind.prefix(40))")
    }
  }
}

/// Typed access to the fields of an object.
private struct CampaignFields {
  var json: JSONObject

  func required<Value: JSONRepresentable>(_ name: String) throws(CampaignRecordError) -> Value {
    guard let value: Value = optional(name) else {
      throw CampaignRecordError(description: "\(name) is missing or has another type")
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
    json["resumedAt"] = resumedAt?.jsonValue
    json["until"] = until?.jsonValue
    json["adoptedAt"] = adoptedAt?.jsonValue
    json["by"] = .string(by)
    json["code"] = code.map { .integer($0) }
    return json
  }

  fileprivate init(_ fields: CampaignFields) throws(CampaignRecordError) {
    // Unreadable storefronts must not become nil, which means all storefronts.
    let storefronts: [String]? =
      fields.json["storefrontCountryCodes"] == nil ? nil : try fields.required("storefrontCountryCodes")
    self.init(
      id: try fields.campaign(), bundleId: try fields.required("bundleId"),
      environment: try fields.required("environment"), productId: try fields.required("productId"),
      days: try fields.required("extendByDays"), reason: try fields.required("extendReasonCode"),
      storefronts: storefronts, requestedAt: try fields.required("requestedAt"), by: fields.text("by"))
    let name: String = try fields.required("state")
    guard let state = State(rawValue: name) else {
      throw CampaignRecordError(description: "unknown campaign state \(name.prefix(40))")
    }
    self.state = state
    resumedAt = fields.json["resumedAt"] == nil ? nil : try fields.required("resumedAt")
    // An unreadable end must not become nil, which means a window without an end.
    until = fields.json["until"] == nil ? nil : try fields.required("until")
    // An unreadable time must not become nil, which means that an earlier cancellation counts.
    adoptedAt = fields.json["adoptedAt"] == nil ? nil : try fields.required("adoptedAt")
    code = fields.optional("code")
  }
}
