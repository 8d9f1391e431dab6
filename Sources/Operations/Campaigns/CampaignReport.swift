// One campaign for `millrace campaigns list` and `show`. Pure.

package import AppStore
internal import AppStoreServerAPI
package import MillraceCore
internal import MillraceWorker
package import RenewalExtensions

/// A campaign and its progress.
package struct CampaignReport: Sendable, Hashable {
  /// The campaign, with Apple's latest answer.
  package var campaign: Campaign
  /// The counts of the worker's lanes.
  package var progress: CampaignProgress
  /// The number of failures that match this and another campaign and need an operator's decision.
  package var undecided: Int
  /// The number of calls per second that all workers together may make.
  package var perSecond: Double

  /// Creates a report.
  package init(campaign: Campaign, progress: CampaignProgress, undecided: Int, perSecond: Double) {
    self.campaign = campaign
    self.progress = progress
    self.undecided = undecided
    self.perSecond = perSecond
  }

  /// The number of failures whose retries are not known to have ended.
  package var waiting: Int64 { progress.left(campaign.completion) }

  /// The shortest time that the remaining retries can take; nil if the campaign was cancelled or there is no budget.
  var timeLeft: Duration? {
    guard campaign.cancellation == nil, perSecond > 0 else { return nil }
    return .milliseconds(Int64((Double(waiting) / perSecond * 1_000).rounded(.up)))
  }

  /// The number of calls per second that a configuration allows.
  package static func perSecond(
    _ configuration: MillraceConfiguration, in environment: AppStoreEnvironment
  ) -> Double {
    let (settings, endpoint) = (configuration.appStore, APIEndpoint.extendSubscriptionRenewalDate)
    return RateLimits.divided(by: settings.limitDivisor).perSecond(endpoint, in: environment) * settings.share
      * APIShares(of: RenewalExtensionsWorker.name, in: configuration).part(at: endpoint)
  }
}

// For people.
extension CampaignReport {
  /// The columns of ``row(_:)``.
  static let columns = [
    TextColumn("STARTED"), TextColumn("STATE"), TextColumn("APP"), TextColumn("ENVIRONMENT"), TextColumn("PRODUCT"),
    TextColumn("DAYS", alignment: .right), TextColumn("STOREFRONTS"), TextColumn("ID"),
  ]

  static func row(_ campaign: Campaign) -> [TextCell] {
    [
      TextCell(RecordView.seconds(campaign.requestedAt), .dim),
      TextCell(CampaignWords.state(campaign), style(campaign)), TextCell(campaign.bundleId),
      TextCell(campaign.environment.rawValue), TextCell(campaign.productId), TextCell("\(campaign.days)"),
      TextCell(campaign.storefronts?.joined(separator: ",") ?? "all"), TextCell(campaign.id, .cyan),
    ]
  }

  /// All campaigns as a table, followed by a sentence.
  package static func lines(_ campaigns: [Campaign], lineWidth: Int?, usesColor: Bool) -> [String] {
    let table = TextTable.lines(columns, rows: campaigns.map(row), lineWidth: lineWidth, usesColor: usesColor)
    let sentence = campaigns.isEmpty ? "No campaigns." : HumanText.count(campaigns.count, "campaign") + "."
    return table + (table.isEmpty ? [] : [""]) + [sentence]
  }

  /// One campaign in detail.
  package func lines(lineWidth: Int?, usesColor: Bool) -> [String] {
    var sheet = FactSheet()
    sheet.add("campaign", campaign.id, .cyan)
    sheet.add("state", CampaignWords.state(campaign), Self.style(campaign))
    sheet.add("app", "\(campaign.bundleId), \(campaign.environment.rawValue)")
    sheet.add("product", campaign.productId)
    sheet.add("extension", CampaignWords.terms(campaign))
    sheet.add("started", "\(RecordView.seconds(campaign.requestedAt)) by \(campaign.by)")
    sheet.add("sent again", campaign.resumedAt.map { RecordView.seconds($0) })
    sheet.add("adopted", campaign.adoptedAt.map { "\(RecordView.seconds($0)); another tool started it" })
    sheet.add("cancelled", campaign.cancellation.map { "\(RecordView.seconds($0.at)) by \($0.by): \($0.why)" })
    sheet.add("code", campaign.code.map { "\($0)" }, .red)
    sheet.beginGroup()
    sheet.add("Apple", apple)
    sheet.add("extended", "\(progress.extended) reported", .plain)
    sheet.add("", progress.shared > 0 ? "\(progress.shared) of family members" : nil, .plain)
    sheet.add("", progress.ambiguous > 0 ? "\(progress.ambiguous) that may belong to another campaign" : nil, .yellow)
    sheet.add("failures", failures)
    sheet.add("retries", bar(lineWidth: lineWidth))
    sheet.add("refused", refusals, .red)
    sheet.add("waiting", patience)
    sheet.add(
      "undecided", undecided > 0 ? "\(undecided): assign them with millrace campaigns resolve" : nil, .yellow)
    return sheet.lines(usesColor: usesColor)
  }

  private var apple: String {
    guard let completion = campaign.completion else { return "running, or no answer yet" }
    return "done \(RecordView.seconds(completion.at)): \(completion.succeeded) extended, \(completion.failed) failed"
  }

  private var failures: String {
    let parts = [
      "\(progress.applied) extended", progress.refused.isEmpty ? nil : "\(progress.refusedCount) refused",
      progress.unclear > 0 ? "\(progress.unclear) unclear" : nil,
      progress.withheld > 0 ? "\(progress.withheld) withheld" : nil, "\(waiting) waiting",
    ].compactMap { $0 }.joined(separator: ", ")
    return "\(ended + waiting): \(parts)"
  }

  private var refusals: String? {
    guard !progress.refused.isEmpty else { return nil }
    return progress.refused.sorted { ($0.value, $1.key.rawValue) > ($1.value, $0.key.rawValue) }
      .map { "\($0.key.rawValue) \($0.value)" }.joined(separator: ", ")
  }

  private var ended: Int64 { progress.failures - progress.waiting }

  private var patience: String? {
    guard waiting > 0, campaign.cancellation == nil else { return nil }
    guard let time = timeLeft else { return "no budget for retries" }
    let rate = (perSecond * 10).rounded() / 10
    return "at least \(HumanText.roundedUp(time)) at \(rate) calls a second"
  }

  /// The shares of failures applied, refused, unclear or withheld, and waiting; out of Apple's total once it is known.
  private func bar(lineWidth: Int?) -> String? {
    let total = ended + waiting
    guard total > 0 else { return nil }
    let bar = ProgressBar(
      parts: [
        .init(count: progress.applied, symbol: "█", style: .green),
        .init(count: progress.refusedCount, symbol: "▓", style: .red),
        .init(count: progress.unclear + progress.withheld, symbol: "▒", style: .yellow),
      ], total: total)
    return "\(bar.text(width: min(40, max(10, (lineWidth ?? 80) - 40)), usesColor: false)) \(ended) of \(total)"
  }

  private static func style(_ campaign: Campaign) -> TextStyle {
    if campaign.state == .refused { return .red }
    if campaign.state == .unclear || campaign.cancellation != nil { return .yellow }
    return campaign.completion == nil ? .plain : .green
  }
}

// For scripts.
extension CampaignReport {
  /// The report as one line of JSON, without a line feed.
  package var jsonLine: String {
    var json = Self.json(campaign)
    var refused = JSONObject()
    for (reason, count) in progress.refused.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      refused[reason.rawValue] = .integer(count)
    }
    json["progress"] = [
      "extended": .integer(progress.extended), "shared": .integer(progress.shared),
      "ambiguous": .integer(progress.ambiguous), "failures": .integer(ended + waiting),
      "applied": .integer(progress.applied), "refused": .object(refused),
      "unclear": .integer(progress.unclear), "withheld": .integer(progress.withheld),
      "waiting": .integer(waiting),
    ]
    json["undecided"] = .integer(Int64(undecided))
    json["secondsLeft"] = timeLeft.map { .integer($0.components.seconds) }
    return String(decoding: JSON.object(json).serialized(), as: UTF8.self)
  }

  /// One campaign of a list as one line of JSON.
  package static func jsonLine(_ campaign: Campaign) -> String {
    String(decoding: JSON.object(json(campaign)).serialized(), as: UTF8.self)
  }

  private static func json(_ campaign: Campaign) -> JSONObject {
    var json: JSONObject = [
      "campaign": .string(campaign.id), "state": .string(campaign.state.rawValue),
      "bundleId": .string(campaign.bundleId), "environment": .string(campaign.environment.rawValue),
      "productId": .string(campaign.productId), "extendByDays": .integer(Int64(campaign.days)),
      "extendReasonCode": .integer(Int64(campaign.reason.rawValue)),
      "requestedAt": .string(campaign.requestedAt.rfc3339), "by": .string(campaign.by),
    ]
    json["storefrontCountryCodes"] = campaign.storefronts.map { .array($0.map { .string($0) }) }
    json["resumedAt"] = campaign.resumedAt.map { .string($0.rfc3339) }
    json["adoptedAt"] = campaign.adoptedAt.map { .string($0.rfc3339) }
    json["code"] = campaign.code.map { .integer($0) }
    json["completion"] = campaign.completion.map {
      [
        "at": .string($0.at.rfc3339), "succeeded": .integer($0.succeeded), "failed": .integer($0.failed),
      ]
    }
    json["cancellation"] = campaign.cancellation.map {
      ["at": .string($0.at.rfc3339), "by": .string($0.by), "why": .string($0.why)]
    }
    return json
  }
}

extension CampaignProgress {
  /// The number of failures that Apple refused permanently.
  fileprivate var refusedCount: Int64 { refused.values.reduce(0, +) }
}
