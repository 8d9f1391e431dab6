// What Apple decides about a refund. It says only that the caller's preference is one of many factors.

internal import AppStoreSigning

/// How refund requests end.
public struct RefundPolicy: Sendable, Hashable {
  /// From an answer to the decision.
  public var decisionDelay: Duration
  /// How long Apple waits for an answer before it decides alone: "Respond within 12 hours".
  public var answerDeadline: Duration
  /// The part of the decisions that follow the caller's preference; the others are as without one.
  public var followsPreference: Double
  /// The part of the requests that are granted where no preference counts.
  public var grantShare: Double
  /// The part of the granted refunds that are reversed later.
  public var reversalShare: Double
  /// From a refund to its reversal.
  public var reversalDelay: Duration

  /// A policy; the defaults do as the caller prefers, and grant what nobody has an opinion about.
  public init(
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
    /// Milliunits of the price that are paid back; 100 000 is all of it.
    case refunded(percentage: Int64, isReversedLater: Bool)
  }

  /// Decides.
  /// - Parameter elapsed: the part of the paid period that has passed, in milliunits, for a subscription.
  func decision(
    _ answer: ConsumptionAnswer?, elapsed: Int64?, using generator: inout SeededGenerator
  ) -> Decision {
    // Always three draws: the outcome of one request must not move with the settings of another share.
    let followed = Double.random(in: 0..<1, using: &generator) < followsPreference
    let granted = Double.random(in: 0..<1, using: &generator) < grantShare
    let reversed = Double.random(in: 0..<1, using: &generator) < reversalShare
    let all = ConsumptionAnswer.everything
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
