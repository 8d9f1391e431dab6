// The sources of answers. The worker asks providers in the configured order; the first one that knows the purchase
// decides.

internal import AppStore

/// A source of answers about what a customer consumed.
package protocol ConsumptionProvider: Sendable {
  /// The name in events and logs.
  var name: String { get }

  /// Returns the answer about a purchase. Failures are replies too: ``ProviderReply/later(_:after:)``.
  func answer(_ question: ConsumptionQuestion) async -> ProviderReply
}

/// A provider's reply.
package enum ProviderReply: Sendable, Hashable {
  /// The answer.
  case answer(ConsumptionAnswer)
  /// The customer did not consent.
  case noConsent
  /// The provider does not know the purchase. The worker asks the next one.
  case unknown
  /// The provider cannot answer now: a stable code, and the delay that it asks for.
  case later(_ reason: String, after: Duration?)

  /// The provider's answer cannot be parsed.
  static let unreadable = ProviderReply.later("answer-unreadable", after: nil)

  /// Parses an answer in JSON.
  init(answer bytes: [UInt8]) {
    do {
      self = .answer(try ConsumptionAnswer(parsing: bytes))
    } catch {
      self = .unreadable
    }
  }
}

/// A list of providers that are asked in order.
package struct ProviderChain: Sendable {
  /// The providers, in the order in which they are asked.
  package let providers: [any ConsumptionProvider]

  /// Creates a chain.
  /// - Parameter providers: The providers in the order in which they are asked.
  package init(_ providers: [any ConsumptionProvider]) { self.providers = providers }

  /// The result of asking the providers.
  package enum Finding: Sendable, Hashable {
    /// Send this request, which a provider answered.
    case send(PreparedRequest, by: String)
    /// Send nothing: a stable code, and the provider that decided it.
    case withhold(reason: String, by: String?)
    /// Ask again: a stable code, details if there are any, and the delay.
    case later(reason: String, detail: String?, after: Duration?, by: String)
  }

  /// Asks the providers in order. If one cannot answer now, the next ones are not asked, because they may know less.
  package func find(_ question: ConsumptionQuestion) async -> Finding {
    for provider in providers {
      switch await provider.answer(question) {
      case .unknown: continue
      case .noConsent: return .withhold(reason: "no-consent", by: provider.name)
      case .later(let reason, let delay):
        return .later(reason: reason, detail: nil, after: delay, by: provider.name)
      case .answer(let answer):
        if answer.customerConsented == false { return .withhold(reason: "no-consent", by: provider.name) }
        switch answer.request(for: question) {
        case .success(let request): return .send(request, by: provider.name)
        case .failure(let fault):
          return .later(reason: "answer-invalid", detail: "\(fault)", after: nil, by: provider.name)
        }
      }
    }
    return .withhold(reason: "no-provider-knows", by: nil)
  }
}
