// Everything that is kept about one subscription. Each part follows the report that Apple signed last, so reports that
// are late, repeated or reordered lead to the same state.

internal import AppStore

/// The reports about one subscription, reduced to those that can still matter.
struct SubscriptionState: Sendable, Hashable {
  /// The periods that began last, the latest first. A period that is not among them cannot become the current one.
  private(set) var periods: [Period] = []
  private(set) var renewal: RenewalSettings?
  private(set) var statement: Statement?
  private(set) var bundleId: String?
  private(set) var environment: AppStoreEnvironment?

  /// The number of periods that are kept. An upgrade can replace a period that was renewed in advance, so the current
  /// period is not always the latest.
  static let mostPeriods = 2

  init(
    periods: [Period] = [], renewal: RenewalSettings? = nil, statement: Statement? = nil, bundleId: String? = nil,
    environment: AppStoreEnvironment? = nil
  ) {
    (self.periods, self.renewal, self.statement) = (periods, renewal, statement)
    (self.bundleId, self.environment) = (bundleId, environment)
  }

  /// Applies a report. The result does not depend on the order of reports.
  mutating func apply(_ report: SubscriptionReport) {
    // An id belongs to one app. The order of reports must not decide all the same.
    bundleId = [bundleId, report.bundleId].compactMap(\.self).max()
    environment = [environment, report.environment].compactMap(\.self).max { $0.rawValue < $1.rawValue }
    if let period = report.period { apply(period) }
    if let new = report.renewal, renewal.map({ $0.isOlder(than: new) }) ?? true { renewal = new }
    if statement.map({ $0.isOlder(than: report.statement) }) ?? true { statement = report.statement }
  }

  private mutating func apply(_ period: Period) {
    if let place = periods.firstIndex(where: { $0.transactionId == period.transactionId }) {
      periods[place] = periods[place].merged(with: period)
      return
    }
    let place = periods.firstIndex { period.isLater(than: $0) } ?? periods.endIndex
    periods.insert(period, at: place)
    if periods.count > Self.mostPeriods { periods.removeLast() }
  }

  /// The period that determines product and dates: the latest that was not replaced by an upgrade. If Apple calls the
  /// subscription active and that period has ended, it is the period that Apple's statement is about, if it is running.
  var current: Period? {
    guard let latest = periods.first(where: { !$0.isUpgraded }) ?? periods.first else { return nil }
    guard let statement, statement.status == .active, !latest.isRunning(at: statement.signedDate) else { return latest }
    return periods.first { statement.isAbout($0) && $0.isRunning(at: statement.signedDate) } ?? latest
  }

  /// The question that Apple has to be asked, unless a report explains the state before. A report without a usable
  /// transaction leaves everything to Apple's answer.
  func question(margin: Duration) -> Question? {
    if let subscription { return subscription.question(margin: margin) }
    return statement.map { Question(at: $0.signedDate, isUrgent: true) }
  }

  /// The subscription as consumers see it; nil before the first report with a transaction.
  var subscription: Subscription? {
    guard let current, let statement else { return nil }
    return Subscription(current: current, renewal: renewal, statement: statement)
  }
}
