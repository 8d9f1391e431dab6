// Answers that need no system behind them: by product, type and reason, from the configuration.

internal import AppStore
public import Millrace

/// The first rule that fits answers; where none fits, the next provider may know.
public struct RulesProvider: ConsumptionProvider {
  /// Names it.
  public let name = "rules"

  private let rules: [ConsumptionRule]

  /// - Parameter rules: in the order they are tried.
  public init(_ rules: [ConsumptionRule]) { self.rules = rules }

  /// What the first rule that fits says.
  public func answer(_ question: ConsumptionQuestion) async -> ProviderReply {
    guard let rule = rules.first(where: { $0.fits(question) }) else { return .unknown }
    guard rule.customerConsented else { return .noConsent }
    return .answer(ConsumptionAnswer(json: rule.request(of: question.productType).json))
  }
}

extension ConsumptionRule {
  /// Whether it speaks of such a purchase; what a rule does not name, it does not ask for.
  func fits(_ question: ConsumptionQuestion) -> Bool {
    guard bundleId == nil || bundleId == question.bundleId else { return false }
    guard type == nil || type == question.productType else { return false }
    guard reasons.isEmpty || question.reason.map({ reasons.contains($0) }) ?? false else { return false }
    guard let product else { return true }
    guard let id = question.productId else { return false }
    return product.last == "*" ? id.hasPrefix(product.dropLast()) : id == product
  }
}
