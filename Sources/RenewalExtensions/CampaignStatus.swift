// Apple's status of a mass extension. A campaign in the topic proves only that an operator wanted to start it. Only
// Apple knows whether it exists and when it was completed.

internal import AppStore
package import AppStoreServerAPI

/// Apple's status of a campaign.
package enum CampaignStatus: Sendable, Hashable {
  /// The extension is in progress.
  case inProgress
  /// The extension is complete.
  case complete(Campaign.Completion)
  /// Apple has no such campaign (error 4040009).
  case notFound
  /// The response does not tell. Holds the reason.
  case undetermined(String)

  /// Requests the status from Apple (Get Status of Subscription Renewal Date Extensions).
  /// - Throws: The API error if the call failed for a reason that does not concern the campaign.
  package static func of(
    _ campaign: Campaign, askedOf client: AppStoreServerClient
  ) async throws(APIError) -> CampaignStatus {
    do {
      let status = try await client.status(of: campaign)
      guard status.complete == true else { return .inProgress }
      guard let date = status.completeDate else {
        return .undetermined("Apple reports the extension as complete without a completion date")
      }
      return .complete(
        Campaign.Completion(at: date, succeeded: status.succeededCount ?? 0, failed: status.failedCount ?? 0))
    } catch {
      if error.code == .statusRequestNotFound { return .notFound }
      guard error.isAboutTheQuestion else { throw error }
      return .undetermined("\(error)")
    }
  }
}

extension AppStoreServerClient {
  /// Requests Apple's status of a campaign.
  ///
  /// Another tool may have sent the UUID in upper case, and Apple does not document whether the case matters. So the
  /// status of an adopted campaign is requested for both.
  func status(of campaign: Campaign) async throws(APIError) -> MassExtendRenewalDateStatusResponse {
    do throws(APIError) {
      return try await status(of: campaign, as: campaign.id)
    } catch {
      guard error.code == .statusRequestNotFound, campaign.adoptedAt != nil else { throw error }
      return try await status(of: campaign, as: campaign.id.uppercased())
    }
  }

  private func status(
    of campaign: Campaign, as identifier: String
  ) async throws(APIError) -> MassExtendRenewalDateStatusResponse {
    try await getStatusOfSubscriptionRenewalDateExtensions(
      productId: campaign.productId, requestIdentifier: identifier, in: campaign.environment
    ).value
  }
}

/// A status and the time for which it holds.
struct CampaignAnswer: Sendable, Hashable {
  var status: CampaignStatus
  /// When the status was requested.
  var at: Timestamp

  /// How long a status that may change is reused for other failures. A failure is signed before it is received; a
  /// signature later than this is due to clock differences.
  static let memory = Duration.seconds(60)
  /// How long the status `notFound` is reused. An operator's requeue requests the status again after that.
  static let absence = Duration.seconds(600)

  /// Whether the status can decide about a failure of the campaign.
  func settles(_ campaign: Campaign, signedAt signedDate: Timestamp, now: Timestamp) -> Bool {
    // The campaign's request was sent again after this status.
    guard at >= campaign.windowStart else { return false }
    return switch status {
    case .complete: true
    case .inProgress: signedDate <= at + Campaign.windowTail
    case .notFound: signedDate <= at + Self.memory && now <= at + Self.absence
    case .undetermined: now <= at + Self.memory
    }
  }
}
