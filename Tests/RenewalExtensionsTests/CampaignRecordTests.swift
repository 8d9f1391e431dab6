import AppStore
import KafkaClient
import Testing

@testable import RenewalExtensions

@Suite struct CampaignRecordTests {
  private static let time = Campaign.origin + .seconds(86_400)

  private static let resumed = {
    var campaign = Campaign.sample("2f0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11")
    campaign.resumedAt = time
    return campaign
  }()

  private static let windowed = {
    var campaign = Campaign.sample("3f0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11")
    campaign.until = time
    return campaign
  }()

  static let records: [CampaignRecord] = [
    .campaign(.sample()),
    .campaign(.sample(storefronts: ["DEU", "AUT"], state: .unclear)),
    .completion(campaign: Campaign.sample().id, .init(at: time, succeeded: 1_500, failed: 500)),
    .status(campaign: Campaign.sample().id, inProgressAt: time),
    .campaign(resumed),
    .cancellation(campaign: Campaign.sample().id, .init(at: time, by: "ann", why: "the wrong product")),
    .resolution(
      CampaignResolution(
        id: "r1", campaign: Campaign.sample().id, notifications: ["n1", "n2"], at: time, by: "bob", why: "so")),
  ]

  private static let adopted = {
    var campaign = Campaign.sample("4f0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11")
    campaign.adoptedAt = time
    return campaign
  }()

  @Test func `a cancellation counts unless the campaign was adopted later`() {
    func cancelled(at date: Timestamp) -> CampaignRecord {
      .cancellation(campaign: Self.adopted.id, .init(at: date, by: "ann", why: "the wrong days"))
    }
    for (date, counts) in [(Self.time - .milliseconds(1), false), (Self.time, true), (Self.time + .seconds(1), true)] {
      let table = CampaignTable([cancelled(at: date), .campaign(Self.adopted)])
      #expect((table[Self.adopted.id]?.cancellation != nil) == counts, "\(date)")
    }
  }

  @Test(arguments: records + [.campaign(windowed), .campaign(adopted)]) func `a written record is read back`(
    record: CampaignRecord
  ) throws {
    #expect(try CampaignRecord(record.json.serialized()) == record)
  }

  @Test func `a field of a later version is ignored`() throws {
    var json = CampaignRecord.campaign(.sample()).json
    json["later"] = ["x": 1]
    #expect(try CampaignRecord(json.serialized()) == .campaign(.sample()))
  }

  @Test(arguments: [
    "", "{}", "[]", #"{"kind":"later"}"#, #"{"kind":"campaign","campaign":"x"}"#,
    #"{"kind":"completion","campaign":"x","at":"yesterday","succeeded":1,"failed":0}"#,
  ])
  func `a malformed record is refused`(text: String) {
    #expect(throws: CampaignRecordError.self) { try CampaignRecord(Array(text.utf8)) }
  }

  @Test func `unreadable storefronts do not become all storefronts`() {
    var json = CampaignRecord.campaign(.sample(storefronts: ["DEU"])).json
    json["storefrontCountryCodes"] = "DEU"
    #expect(throws: CampaignRecordError.self) { try CampaignRecord(json.serialized()) }
  }

  @Test func `the order of records from different writers does not matter`() {
    let forward = CampaignTable(Self.records)
    let backward = CampaignTable(Self.records.filter { $0 != .campaign(.sample()) }.reversed())
    #expect(forward.campaigns == backward.campaigns && forward.campaigns.count == 2)
    #expect(forward.resolution(of: "n2") == Campaign.sample().id && forward.resolution(of: "n3") == nil)
    #expect(forward.campaigns.first?.completion?.failed == 500)
    #expect(forward.campaigns.first?.cancellation?.by == "ann" && forward.campaigns.first?.seenAt == Self.time)
    #expect(forward.campaigns.last?.windowStart == Self.time)
  }

  @Test func `an unreadable record is remembered until a readable one replaces it`() {
    var table = CampaignTable([.campaign(.sample())])
    var broken = CampaignRecord.campaign(.sample("2f0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11")).consumed(offset: 1)
    let whole = broken
    broken.value = Array("{".utf8)
    table.fold(broken)
    #expect(table.unreadable == ["campaign/2f0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11"] && table.campaigns.count == 1)
    table.fold(whole)
    #expect(table.unreadable.isEmpty && table.campaigns.count == 2)
  }

  @Test func `a tombstone removes a campaign`() {
    var table = CampaignTable(Self.records)
    for record in Self.records {
      var tombstone = record.consumed()
      tombstone.value = nil
      table.fold(tombstone)
    }
    #expect(table.campaigns.isEmpty && table.resolution(of: "n1") == nil)
  }
}
