// Where answers come from. Providers are asked in the configured order, and the first that has an answer decides.

internal import AppStore

/// Somebody who may know what was consumed.
public protocol ConsumptionProvider: Sendable {
  /// Names it in events and logs.
  var name: String { get }

  /// What it says of a purchase. Whatever goes wrong is a reply too: ``ProviderReply/later(_:after:)``.
  func answer(_ question: ConsumptionQuestion) async -> ProviderReply
}

/// What a provider says.
public enum ProviderReply: Sendable, Hashable {
  /// This is the answer.
  case answer(ConsumptionAnswer)
  /// The customer does not want anything to be sent.
  case noConsent
  /// It knows nothing of the purchase; the next one may.
  case unknown
  /// It cannot say now: a stable code, and when it wants to be asked again.
  case later(_ reason: String, after: Duration?)

  /// What it said cannot be read.
  static let unreadable = ProviderReply.later("answer-unreadable", after: nil)

  /// An answer in JSON.
  init(answer bytes: [UInt8]) {
    do {
      self = .answer(try ConsumptionAnswer(parsing: bytes))
    } catch {
      self = .unreadable
    }
  }
}

/// Several providers as one.
public struct ProviderChain: Sendable {
  /// In the order they are asked.
  public let providers: [any ConsumptionProvider]

  /// - Parameter providers: in the order they are asked.
  public init(_ providers: [any ConsumptionProvider]) { self.providers = providers }

  /// What is to be done about a question.
  public enum Finding: Sendable, Hashable {
    /// Send this; named is who said it.
    case send(PreparedRequest, by: String)
    /// Send nothing: a stable code, and who said so.
    case withhold(reason: String, by: String?)
    /// Ask again: a stable code, the reason in words where there is one, and when.
    case later(reason: String, detail: String?, after: Duration?, by: String)
  }

  /// Asks until somebody has an answer. One who cannot answer now is not passed over: a later one may know less.
  public func find(_ question: ConsumptionQuestion) async -> Finding {
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
