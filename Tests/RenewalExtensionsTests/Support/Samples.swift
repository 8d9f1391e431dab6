// Sample campaigns and subjects that match.

import AppStore
import KafkaClient

@testable import RenewalExtensions

extension Campaign {
  static let origin = Timestamp(millisecondsSince1970: 1_767_225_600_000)

  /// A week for a monthly plan.
  static func sample(
    _ id: String = "1f0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11", bundleId: String = "com.example.app",
    environment: AppStoreEnvironment = .production, product: String = "com.example.app.monthly",
    storefronts: [String]? = nil, at time: Timestamp = origin, state: State = .accepted
  ) -> Campaign {
    var campaign = Campaign(
      id: id, bundleId: bundleId, environment: environment, productId: product, days: 7,
      reason: .serviceIssueOrOutage, storefronts: storefronts, requestedAt: time, by: "ann")
    campaign.state = state
    return campaign
  }
}

extension ExtensionSubject {
  /// A subscriber of the sample's product. The failure is signed a minute after the campaign's request.
  static func sample(
    storefront: String? = "USA", at time: Timestamp = Campaign.origin + .seconds(60)
  ) -> ExtensionSubject {
    ExtensionSubject(
      originalTransactionId: "2000000123456789", bundleId: "com.example.app", environment: .production,
      productId: "com.example.app.monthly", storefront: storefront, signedDate: time)
  }
}

extension CampaignTable {
  /// A table of these records, in this order.
  init(_ records: [CampaignRecord]) {
    self.init()
    for (offset, record) in records.enumerated() { fold(record.consumed(offset: Int64(offset))) }
  }
}

extension CampaignRecord {
  /// This record as a consumer reads it.
  func consumed(offset: Int64 = 0) -> ConsumerRecord {
    ConsumerRecord(
      topic: Self.topic, partition: 0, offset: offset, timestamp: 0, key: Array(key.utf8), value: json.serialized(),
      headers: [])
  }
}
