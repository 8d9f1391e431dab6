import AppStore
import MillraceWorker
import Testing

@testable import Operations
@testable import RenewalExtensions

@Suite struct CampaignProgressTests {
  private static let id = Campaign.sample().id

  private static var tally: LedgerTally {
    var tally = LedgerTally()
    tally.counters = [
      "campaign/\(id)/extended": 1_500, "campaign/\(id)/shared": 20, "campaign/\(id)/ambiguous": 3,
      "campaign/\(id)/withheld": 2,
      "campaign/other/extended": 9,
    ]
    let answers: [ExtensionAnswer] = [
      .applied(effectiveDate: nil), .applied(effectiveDate: Campaign.origin),
      .refused(.init(.ineligible, code: 4_030_004, message: nil)),
      .refused(.init(.maxExtensions, code: 4_030_005, message: nil)),
      .refused(.init(.maxExtensions, code: 4_030_005, message: nil)), .unclear("x"),
    ]
    for (number, answer) in answers.enumerated() {
      tally.effects[ExtensionRequest.effect(campaign: id, originalTransactionId: "\(number)")] = .ended(answer.bytes)
    }
    for number in 100..<132 {
      tally.effects[ExtensionRequest.effect(campaign: id, originalTransactionId: "\(number)")] =
        .open(since: Campaign.origin)
    }
    tally.effects["extend/other/1"] = .open(since: Campaign.origin)
    return tally
  }

  @Test func `the progress is the sum of a campaign's counters and effects`() {
    let progress = CampaignProgress(Self.tally, of: Self.id)
    #expect(progress.extended == 1_500 && progress.ambiguous == 3 && progress.withheld == 2)
    #expect(progress.applied == 2 && progress.unclear == 1 && progress.waiting == 32)
    #expect(progress.refused == [.ineligible: 1, .maxExtensions: 2])
    #expect(progress.failures == 40)
    #expect(progress.agrees(with: .init(at: Campaign.origin, succeeded: 1_500, failed: 40)))
    #expect(!progress.agrees(with: .init(at: Campaign.origin, succeeded: 1_500, failed: 41)))
    #expect(progress.shared == 20, "family members, whom Apple may or may not have counted")
    #expect(progress.agrees(with: .init(at: Campaign.origin, succeeded: 1_520, failed: 40)))
    #expect(!progress.agrees(with: .init(at: Campaign.origin, succeeded: 1_521, failed: 40)))
    #expect(!progress.agrees(with: .init(at: Campaign.origin, succeeded: 1_499, failed: 40)))
    #expect(progress.agrees(with: .init(at: Campaign.origin, succeeded: 9_000, failed: 40), isAdopted: true))
    #expect(!progress.agrees(with: .init(at: Campaign.origin, succeeded: 1_499, failed: 40), isAdopted: true))
    #expect(!progress.agrees(with: .init(at: Campaign.origin, succeeded: 1_500, failed: 41), isAdopted: true))
    #expect(progress.begun == 38, "without the withheld ones")
    #expect(progress.left(nil) == 32, "before Apple's count, only the retries that have begun are known")
    #expect(progress.left(.init(at: Campaign.origin, succeeded: 1_500, failed: 50)) == 42)
    #expect(progress.left(.init(at: Campaign.origin, succeeded: 1_500, failed: 10)) == 32)
  }

  @Test func `show prints Apple's counts, the worker's results and the time left`() {
    var campaign = Campaign.sample()
    campaign.completion = .init(at: Campaign.origin + .seconds(7_200), succeeded: 1_500, failed: 50)
    let report = CampaignReport(
      campaign: campaign, progress: CampaignProgress(Self.tally, of: Self.id), undecided: 4, perSecond: 16)
    let text = report.lines(lineWidth: 100, usesColor: false).joined(separator: "\n")
    for part in [
      "completed", "7 days, reason 3 (service issue or outage), all storefronts", "1500 extended, 50 failed",
      "20 of family members",
      "50: 2 extended, 3 refused, 1 unclear, 2 withheld, 42 waiting", "8 of 50", "max-extensions 2, ineligible 1",
      "at least 3 s at 16.0 calls a second", "millrace campaigns resolve",
    ] {
      #expect(text.contains(part), "\(part)\n\(text)")
    }
    #expect(report.jsonLine.contains(#""refused":{"ineligible":1,"max-extensions":2}"#))
    #expect(report.jsonLine.contains(#""failures":50"#) && report.jsonLine.contains(#""waiting":42"#))
    #expect(report.jsonLine.contains(#""secondsLeft":2"#))
  }

  @Test func `cancelled retries take no time, and without a budget there is no estimate`() {
    var campaign = Campaign.sample()
    func report(perSecond: Double) -> CampaignReport {
      CampaignReport(
        campaign: campaign, progress: CampaignProgress(Self.tally, of: Self.id), undecided: 0, perSecond: perSecond)
    }
    #expect(report(perSecond: 16).timeLeft == .seconds(2) && report(perSecond: 0).timeLeft == nil)
    campaign.cancellation = .init(at: Campaign.origin, by: "ann", why: "the wrong product")
    #expect(report(perSecond: 16).timeLeft == nil && !report(perSecond: 16).jsonLine.contains("secondsLeft"))
    let lines = report(perSecond: 16).lines(lineWidth: 100, usesColor: false).joined()
    #expect(!lines.contains("calls a second") && lines.contains("32 waiting"))
  }

  @Test func `a list has a row for each campaign`() {
    let lines = CampaignReport.lines(
      [.sample(), .sample("2f", storefronts: ["DEU"])], lineWidth: nil, usesColor: false)
    #expect(lines.count == 5 && lines[1].contains("com.example.app.monthly") && lines[2].contains("DEU"))
    #expect(CampaignReport.lines([], lineWidth: nil, usesColor: false) == ["No campaigns."])
  }

  @Test func `a bar has the requested width, shows any progress, and is full only at the end`() {
    for total in Int64(1)...60 {
      for first in 0...total {
        for second in 0...(total - first) where (first + second) % 7 == 0 || first + second == total {
          let bar = ProgressBar(
            parts: [
              .init(count: first, symbol: "a", style: .plain), .init(count: second, symbol: "b", style: .plain),
            ], total: total)
          let widths = bar.widths(of: 20)
          #expect(widths.reduce(0, +) == 20, "\(total) \(first) \(second)")
          #expect((widths[0] > 0) == (first > 0) && (widths[1] > 0) == (second > 0))
          #expect((widths[2] > 0) == (first + second < total))
        }
      }
    }
  }
}
