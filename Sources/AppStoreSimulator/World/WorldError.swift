// The reason an operation on the world failed.

package import AppStore

/// An operation that the world rejected.
package enum WorldError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The scenario has no app with this bundle identifier in this environment.
  case noSuchRealm(bundleId: String, environment: AppStoreEnvironment)
  /// The app has no such product, or the product has no such offer.
  case noSuchProduct(String)
  /// No such transaction or subscription exists.
  case noSuchTransaction(Int64)
  /// The customer does not exist.
  case noSuchCustomer
  /// The purchase is not in a state that allows the operation.
  case impossible(String)

  /// The problem and its subject.
  package var description: String {
    switch self {
    case .noSuchRealm(let bundleId, let environment):
      "no app \(bundleId) in \(environment.rawValue); use one of the scenario's apps"
    case .noSuchProduct(let name): "no product or offer \(name); use one of the app's"
    case .noSuchTransaction(let id): "no transaction \(id)"
    case .noSuchCustomer: "no such customer"
    case .impossible(let why): why
    }
  }
}
