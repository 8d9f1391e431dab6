// Records operators' actions on campaigns in the audit trail: the start before anything is done, then the result.

internal import AppStore
internal import MillraceTime
internal import MillraceRecords
internal import RenewalExtensions

/// Writes the audit records of one operator's action.
struct CampaignAudit {
  let campaigns: CampaignLog
  let clock: MillraceClock
  let action: AuditRecord.Action
  let by: String
  var why: String?

  /// Performs and records an action on a campaign. If the start cannot be recorded, nothing is done.
  /// - Parameter end: Converts the result for the audit trail.
  func record<Result>(
    of campaign: Campaign, selection: JSONObject, _ work: () async throws -> Result, end: (Result) -> AuditLog.End
  ) async throws -> Result {
    try await AuditLog(on: campaigns.log, prefix: campaigns.prefix).record(
      action, by: by, clock: clock, why: why, target: campaign.id, selection: selection, work, end: end)
  }
}

extension CampaignStart.Result {
  /// The result for the audit trail.
  var audited: AuditRecord.Result {
    switch self {
    case .accepted, .adopted: .done
    case .known: AuditRecord.Result(rawValue: "done", detail: "Apple accepted it earlier; nothing was sent")
    case .unclear(let why): AuditRecord.Result(rawValue: "unclear", detail: why)
    case .refused(let why), .notSent(let why): .failed(why)
    case .withdrawn(let other): .failed("\(other.by) started \(other.id) at the same time; nothing was sent")
    }
  }
}

extension Campaign {
  /// The request to Apple, for the audit trail.
  var auditSelection: JSONObject {
    var json = request.json
    json["bundleId"] = .string(bundleId)
    json["environment"] = .string(environment.rawValue)
    return json
  }
}
