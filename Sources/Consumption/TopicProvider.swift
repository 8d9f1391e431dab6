// Answers that the team has written to a compacted topic in advance, by transaction or by customer.

package import MillraceWorker

/// Looks up answers in `appstore.consumption-answers`, first by transaction, then by customer.
package struct TopicProvider: ConsumptionProvider {
  /// `topic`.
  package let name = "topic"

  private let index: CompactedTopicIndex

  /// Creates a provider.
  /// - Parameter index: The index of each key's newest answer.
  package init(_ index: CompactedTopicIndex) { self.index = index }

  /// Returns the newest answer. A tombstone counts as unknown.
  package func answer(_ question: ConsumptionQuestion) async -> ProviderReply {
    // Apple writes account UUIDs in upper or lower case.
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
