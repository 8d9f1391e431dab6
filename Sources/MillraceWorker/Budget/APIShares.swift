// How the workers of a deployment divide Apple's limits. Each process derives its part from the configuration of all
// workers, so processes do not have to coordinate. No I/O.

package import AppStoreServerAPI
package import MillraceCore

/// The parts of `appStore.share` that one worker may use, endpoint by endpoint.
///
/// Apple's limits apply per app, environment and endpoint, across all callers. At each endpoint the workers that call
/// it divide the share by their weights. The replicas of a worker divide the worker's part by their lanes.
package struct APIShares: Sendable, Hashable {
  /// The endpoints that the workers that ship with Millrace call.
  static let calls: [String: Set<APIEndpoint>] = [
    "refunds": [.getTransactionInfo],
    "renewal-extensions": [.extendSubscriptionRenewalDate, .getAllSubscriptionStatuses, .getMassExtendStatus],
    "subscriptions": [.getAllSubscriptionStatuses, .getTransactionInfo],
    "consumption": [.sendConsumptionInformation, .sendConsumptionInformationV1],
    "decoder": [],
  ]

  /// Returns the endpoints that a worker is known to call; nil for a worker that does not ship with Millrace.
  private static func calls(of worker: String) -> Set<APIEndpoint>? {
    worker.hasPrefix("forward-") || worker.hasPrefix("webhook-") ? [] : calls[worker]
  }

  /// Returns the endpoints of a configuration's `calls`, and those that the worker calls because of them: the present
  /// period of a subscription is kept before an extension that an endpoint orders.
  private static func complete(_ calls: [APIEndpoint]) -> Set<APIEndpoint> {
    let named = Set(calls)
    return named.contains(.extendSubscriptionRenewalDate) ? named.union([.getAllSubscriptionStatuses]) : named
  }

  /// Returns the part of an endpoint that is reserved for commands, which run beside the workers.
  package static func commands(at endpoint: APIEndpoint) -> Double {
    switch endpoint {
    case .getMassExtendStatus: 0.5
    case .getAppTransactionInfo, .getTransactionInfo, .getTransactionHistory, .getAllSubscriptionStatuses,
      .lookUpOrderId, .getRefundHistory:
      0.25
    default: 0
    }
  }

  private struct Caller: Sendable, Hashable {
    var name: String
    /// Nil if the configuration does not name them.
    var calls: Set<APIEndpoint>?
    var weight: Double

    func mayCall(_ endpoint: APIEndpoint) -> Bool { calls?.contains(endpoint) ?? true }
  }

  private let caller: Caller
  private let others: [Caller]

  /// Creates the parts of a worker.
  /// - Parameter configuration: The configuration, which names all workers of the deployment.
  package init(of worker: String, in configuration: MillraceConfiguration) {
    let callers = configuration.workers.map { name, entry in
      Caller(name: name, calls: entry.calls.map(Self.complete) ?? Self.calls(of: name), weight: entry.callWeight ?? 1)
    }
    // A worker that the configuration does not name divides the share with the workers that it names.
    caller =
      callers.first { $0.name == worker } ?? Caller(name: worker, calls: Self.calls(of: worker), weight: 1)
    others = callers.filter { $0.name != worker }
  }

  /// Returns the part of `appStore.share` that the worker may use at an endpoint, from 0 to 1. It is 0 if the worker's
  /// `calls` do not name the endpoint, and nothing that they name needs it.
  package func part(at endpoint: APIEndpoint) -> Double {
    guard caller.mayCall(endpoint) else { return 0 }
    let weights = others.reduce(caller.weight) { $0 + ($1.mayCall(endpoint) ? $1.weight : 0) }
    return caller.weight / weights * (1 - Self.commands(at: endpoint))
  }

  /// Whether the worker calls no endpoint and therefore needs no API key.
  var callsNothing: Bool { caller.calls?.isEmpty == true }

  /// The workers that take a part of this worker's endpoints because the configuration does not list their calls.
  package var undeclared: [String] {
    guard caller.calls?.isEmpty != true else { return [] }
    return others.filter { $0.calls == nil }.map(\.name).sorted()
  }
}
