// Apple's decision about a refund. Apple only says that the caller's preference is one of many factors.

internal import AppStoreSigning

/// The decisions about refund requests.
package struct RefundPolicy: Sendable, Hashable {
  /// The time from a response to the decision.
  package var decisionDelay: Duration
  /// The time that Apple waits for a response before it decides alone: "Respond within 12 hours".
  package var answerDeadline: Duration
  /// The share of decisions that follow the caller's preference. The others are made as if there were none.
  package var followsPreference: Double
  /// The share of requests without an effective preference that are granted.
  package var grantShare: Double
  /// The share of granted refunds that are reversed later.
  package var reversalShare: Double
  /// The time from a refund to its reversal.
  package var reversalDelay: Duration

  /// A policy. By default, decisions follow the caller's preference, and requests without one are granted.
  package init(
    decisionDelay: Duration = .seconds(2 * 3_600), answerDeadline: Duration = .seconds(12 * 3_600),
    followsPreference: Double = 1, grantShare: Double = 1, reversalShare: Double = 0,
    reversalDelay: Duration = .seconds(14 * 86_400)
  ) {
    self.decisionDelay = decisionDelay
    self.answerDeadline = answerDeadline
    self.followsPreference = followsPreference
    self.grantShare = grantShare
    self.reversalShare = reversalShare
    self.reversalDelay = reversalDelay
  }

  /// A decision about one request.
  enum Decision: Sendable, Hashable {
    case declined
    /// The refunded percentage in milliunits; 100 000 is a full refund.
    case refunded(percentage: Int64, isReversedLater: Bool)
  }

  /// Decides a request.
  ///
  /// - Parameter elapsed: the elapsed share of a subscription's paid period, in milliunits; nil for other purchases.
  func decision(
    _ answer: ConsumptionInformation?, elapsed: Int64?, using generator: inout SeededGenerator
  ) -> Decision {
    // Always draws three numbers, so that changing one share does not affect the other decisions.
    let followed = Double.random(in: 0..<1, using: &generator) < followsPreference
    let granted = Double.random(in: 0..<1, using: &generator) < grantShare
    let reversed = Double.random(in: 0..<1, using: &generator) < reversalShare
    let all = ConsumptionInformation.everything
    switch followed ? answer?.preference : nil {
    case .decline?: return .declined
    case .grantFull?: return .refunded(percentage: all, isReversedLater: reversed)
    case .grantProrated?:
      let consumed = min(max(0, elapsed ?? answer?.consumed ?? 0), all - 1)
      return .refunded(percentage: all - consumed, isReversedLater: reversed)
    case nil: return granted ? .refunded(percentage: all, isReversedLater: reversed) : .declined
    }
  }
}
