// Answers from rules in the configuration, by product, type and reason.

internal import AppStore
internal import MillraceCore

/// Answers with the first rule that matches. If none matches, the worker asks the next provider.
package struct RulesProvider: ConsumptionProvider {
  /// `rules`.
  package let name = "rules"

  private let rules: [ConsumptionRule]

  /// Creates a provider.
  /// - Parameter rules: The rules, in the order in which they are tried.
  package init(_ rules: [ConsumptionRule]) { self.rules = rules }

  /// Returns the answer of the first rule that matches.
  package func answer(_ question: ConsumptionQuestion) async -> ProviderReply {
    guard let rule = rules.first(where: { $0.fits(question) }) else { return .unknown }
    guard rule.customerConsented else { return .noConsent }
    return .answer(ConsumptionAnswer(json: rule.request(of: question.productType).json))
  }
}

extension ConsumptionRule {
  /// Whether the rule matches a purchase. Properties that the rule leaves out match every purchase.
  func fits(_ question: ConsumptionQuestion) -> Bool {
    guard bundleId == nil || bundleId == question.bundleId else { return false }
    guard type == nil || type == question.productType else { return false }
    guard reasons.isEmpty || question.reason.map({ reasons.contains($0) }) ?? false else { return false }
    guard let product else { return true }
    guard let id = question.productId else { return false }
    return product.last == "*" ? id.hasPrefix(product.dropLast()) : id == product
  }
}
