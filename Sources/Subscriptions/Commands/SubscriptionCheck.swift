// Compares rows of the table with Apple's present answers.

package import AppStore
package import AppStoreServerAPI
internal import AppStoreSignature
package import MillraceTime

/// Compares subscriptions with *Get All Subscription Statuses*.
package struct SubscriptionCheck: Sendable {
  /// The result for one row.
  package enum Result: Sendable, Hashable {
    case equal(String)
    /// The members that differ, with the values in the table and at Apple.
    case differs(String, [Difference])
    /// Apple does not know the subscription, or refuses the question.
    case unknown(String, String)

    /// One object for a script, without a line feed.
    package var jsonLine: String {
      var object = JSONObject()
      switch self {
      case .equal(let id):
        object["originalTransactionId"] = .string(id)
        object["result"] = "equal"
      case .differs(let id, let differences):
        object["originalTransactionId"] = .string(id)
        object["result"] = "differs"
        for difference in differences {
          object[difference.member] = ["table": difference.table ?? .null, "apple": difference.apple ?? .null]
        }
      case .unknown(let id, let reason):
        object["originalTransactionId"] = .string(id)
        object["result"] = "unknown"
        object["detail"] = .string(reason)
      }
      return String(decoding: object.serialized(), as: UTF8.self)
    }

    /// One line for a person; nil if the row is as Apple says.
    package var line: String? {
      switch self {
      case .equal: nil
      case .differs(let id, let differences):
        "\(id)  " + differences.map(\.text).joined(separator: ", ")
      case .unknown(let id, let reason): "\(id)  \(reason)"
      }
    }
  }

  /// A member that differs.
  package struct Difference: Sendable, Hashable {
    package var member: String
    package var table: JSON?
    package var apple: JSON?

    fileprivate var text: String {
      func text(_ value: JSON?) -> String {
        switch value {
        case .string(let text)?: text
        case let other?: String(decoding: other.serialized(), as: UTF8.self)
        case nil: "nothing"
        }
      }
      return "\(member): \(text(table)) in the table, \(text(apple)) at Apple"
    }
  }

  /// The members that are compared. Prices and offers of billing periods change only together with these.
  private static let members = [
    "status", "productId", "expiresDate", "gracePeriodExpiresDate", "autoRenews", "autoRenewProductId", "commitment",
  ]

  private let client: AppStoreServerClient
  private let clock: MillraceClock

  /// Creates a check of one app's subscriptions.
  package init(_ client: AppStoreServerClient, clock: MillraceClock) {
    // A slot just before the call's deadline would leave no time for the call.
    self.client = client.waiting(RateLimitWait(atMost: .seconds(10)))
    self.clock = clock
  }

  /// Asks Apple about one row.
  /// - Throws: `APIError` that concerns all subscriptions, such as rejected credentials; `CancellationError`.
  package func check(_ row: JSONObject) async throws -> Result {
    guard case .string(let id)? = row["originalTransactionId"] else { return .unknown("", "the row has no id") }
    var environment: AppStoreEnvironment?
    if case .string(let name)? = row["environment"] { environment = AppStoreEnvironment(rawValue: name) }
    while true {
      let groups: [SubscriptionGroup]
      do {
        groups = try await client.getAllSubscriptionStatuses(id, in: environment).value
      } catch {
        if let turn = error.retryAt {
          try await clock.sleep(until: clock.now.advanced(by: max(.zero, turn - clock.wallTime)))
          continue
        }
        guard error.isAboutTheQuestion else { throw error }
        return .unknown(id, "\(error)")
      }
      var state = SubscriptionState()
      for item in groups.flatMap(\.subscriptions) where item.originalTransactionId == id {
        let report = SubscriptionReport(
          status: item.status, transaction: item.transaction?.payload, renewal: item.renewalInfo?.payload,
          cause: Cause(kind: .answer, id: "verify"))
        if let report { state.apply(report) }
      }
      guard let apple = state.subscription?.row(id, of: state, margin: .zero) else {
        return .unknown(id, "Apple does not list the subscription")
      }
      let differences = Self.members.filter { row[$0] != apple[$0] }.map {
        Difference(member: $0, table: row[$0], apple: apple[$0])
      }
      return differences.isEmpty ? .equal(id) : .differs(id, differences)
    }
  }
}
