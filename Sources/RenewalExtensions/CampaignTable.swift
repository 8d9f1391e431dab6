// The state of all campaigns, built from the records of their topic. A value.

internal import AppStore
package import KafkaClient

/// An in-memory table of the topic of campaigns.
package struct CampaignTable: Sendable, Hashable {
  private var requested: [String: Campaign] = [:]
  private var completions: [String: Campaign.Completion] = [:]
  private var seen: [String: Timestamp] = [:]
  private var cancellations: [String: Campaign.Cancellation] = [:]
  private var resolved: [String: String] = [:]
  private var resolutions: [String: [String]] = [:]
  /// Keys of records that this version cannot read. While there are any, matches are uncertain, because a failure may
  /// belong to an unreadable campaign.
  package private(set) var unreadable: Set<String> = []

  /// Creates an empty table.
  package init() {}

  /// All campaigns, in order of their start.
  package var campaigns: [Campaign] {
    requested.keys.compactMap { self[$0] }.sorted { ($0.requestedAt, $0.id) < ($1.requestedAt, $1.id) }
  }

  /// A campaign by its id.
  package subscript(id: String) -> Campaign? {
    guard var campaign = requested[id] else { return nil }
    campaign.completion = completions[id]
    campaign.seenAt = seen[id]
    // A campaign that was adopted again after its cancellation is not cancelled.
    campaign.cancellation = cancellations[id].flatMap { $0.at < campaign.adoptedAt ?? $0.at ? nil : $0 }
    return campaign
  }

  /// Returns the campaign that an operator assigned to a failure.
  package func resolution(of notification: String) -> String? { resolved[notification] }

  /// Applies a record. Applying it again has no effect.
  package mutating func fold(_ record: ConsumerRecord) {
    let key = String(decoding: record.key ?? [], as: UTF8.self)
    unreadable.remove(key)
    guard let value = record.value else { return remove(key) }
    do {
      apply(try CampaignRecord(value))
    } catch {
      unreadable.insert(key)
    }
  }

  private mutating func apply(_ record: CampaignRecord) {
    switch record {
    case .campaign(let campaign): requested[campaign.id] = campaign
    case .completion(let id, let completion): completions[id] = completion
    case .status(let id, let time): seen[id] = time
    case .cancellation(let id, let cancellation): cancellations[id] = cancellation
    case .resolution(let resolution):
      resolutions[resolution.id] = resolution.notifications
      for notification in resolution.notifications { resolved[notification] = resolution.campaign }
    }
  }

  private mutating func remove(_ key: String) {
    let parts = key.split(separator: "/", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return }
    switch parts[0] {
    case "campaign": requested[parts[1]] = nil
    case "completion": completions[parts[1]] = nil
    case "status": seen[parts[1]] = nil
    case "cancellation": cancellations[parts[1]] = nil
    case "resolution":
      for notification in resolutions.removeValue(forKey: parts[1]) ?? [] { resolved[notification] = nil }
    default: break
    }
  }
}
