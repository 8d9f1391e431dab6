// All campaigns there are, as the topic says: a value that records are folded into.

internal import AppStore
public import Kafka

/// The topic of campaigns in memory.
public struct CampaignTable: Sendable, Hashable {
  private var requested: [String: Campaign] = [:]
  private var completions: [String: Campaign.Completion] = [:]
  private var cancellations: [String: Campaign.Cancellation] = [:]
  private var resolved: [String: String] = [:]
  private var resolutions: [String: [String]] = [:]
  /// Keys of records that this version cannot read. While there are any nothing is known for certain: what cannot be
  /// read may be the campaign that a failure belongs to.
  public private(set) var unreadable: Set<String> = []

  /// No campaigns.
  public init() {}

  /// Every campaign, the one that was started first at the beginning.
  public var campaigns: [Campaign] {
    requested.keys.compactMap { self[$0] }.sorted { ($0.requestedAt, $0.id) < ($1.requestedAt, $1.id) }
  }

  /// A campaign by its id.
  public subscript(id: String) -> Campaign? {
    guard var campaign = requested[id] else { return nil }
    campaign.completion = completions[id]
    campaign.cancellation = cancellations[id]
    return campaign
  }

  /// The campaign that an operator said a failure belongs to.
  public func resolution(of notification: String) -> String? { resolved[notification] }

  /// Takes a record in; the same one may come again.
  public mutating func fold(_ record: ConsumerRecord) {
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
    case "cancellation": cancellations[parts[1]] = nil
    case "resolution":
      for notification in resolutions.removeValue(forKey: parts[1]) ?? [] { resolved[notification] = nil }
    default: break
    }
  }
}
