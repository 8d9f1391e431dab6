// The refund check on a stage.

import AppStoreServerAPI
import AppStoreSignature
import MillraceTime
import MillraceWorker
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import Refunds

extension RefundStage {
  /// A client, by default with a budget that never delays it.
  func client(_ budget: APIBudget? = nil) throws -> AppStoreServerClient {
    let settings = configuration.apps[0]
    return AppStoreServerClient(
      credentials: try #require(try settings.credentials(under: "api")), appAppleId: settings.appAppleId,
      environments: settings.environments,
      baseURLs: APIBaseURLs(
        production: SimulatedExchange.productionURL, sandbox: SimulatedExchange.sandboxURL),
      verifier: verifier, exchange: appStore,
      budget: budget ?? APIBudget(limits: .divided(by: 0.001), clock: clock),
      clock: clock, logger: Self.quiet)
  }

  func check(_ budget: APIBudget? = nil) throws -> RefundCheck {
    RefundCheck(try client(budget), on: log, prefix: "", clock: clock)
  }
}
