// What a team wrote down before anybody asked: answers in a compacted topic, by transaction or by customer.

public import Millrace

/// Looks a purchase up in `appstore.consumption-answers`; what is said of the transaction goes before what is said of its
/// customer.
public struct TopicProvider: ConsumptionProvider {
  /// Names it.
  public let name = "topic"

  private let index: TopicIndex

  /// - Parameter index: Where each key's newest answer stands.
  public init(_ index: TopicIndex) { self.index = index }

  /// What stands there; a tombstone is nothing.
  public func answer(_ question: ConsumptionQuestion) async -> ProviderReply {
    // Apple writes the UUIDs of accounts in either case.
    let names = [question.transactionId, question.appAccountToken?.lowercased()]
    let keys = names.compactMap { $0 }.filter { !$0.isEmpty }.map { Array($0.utf8) }
    do {
      guard let bytes = try await index.first(of: keys) else { return .unknown }
      return ProviderReply(answer: bytes)
    } catch {
      return .later("topic-unreadable", after: nil)
    }
  }
}
