// Why something cannot happen in the world.

public import AppStore

/// What is wrong with an operation.
public enum WorldError: Error, Sendable, Hashable, CustomStringConvertible {
  /// No app of that bundle identifier is sold in that environment.
  case noSuchRealm(bundleId: String, environment: AppStoreEnvironment)
  /// The app has no such product, or the product no such offer.
  case noSuchProduct(String)
  /// There is no such transaction or subscription.
  case noSuchTransaction(Int64)
  /// The customer does not exist.
  case noSuchCustomer
  /// The purchase is not in a state in which that happens.
  case impossible(String)

  /// What is wrong and where.
  public var description: String {
    switch self {
    case .noSuchRealm(let bundleId, let environment):
      "no app \(bundleId) in \(environment.rawValue); name one of the apps of the scenario"
    case .noSuchProduct(let name): "no product or offer \(name); name one that the app has"
    case .noSuchTransaction(let id): "no transaction \(id)"
    case .noSuchCustomer: "no such customer"
    case .impossible(let why): why
    }
  }
}
