// Whether Apple remembers a `requestIdentifier`. Its documentation says to reuse one for the same request and not what
// happens then, so a caller must be right under every model.

internal import AppStore
internal import Crypto

/// What Apple remembers of requests that carry a `requestIdentifier`.
public enum RequestMemoryModel: String, Sendable, Hashable, CaseIterable {
  /// Every answer that was decided, refusals included: the same identifier gets the same answer again.
  case everything
  /// Successes only: what was refused is decided anew.
  case successes
  /// Nothing: every request is a new one, and an extension sent twice extends twice.
  case nothing
}

/// The identifiers that callers have used, with what came of them.
struct RequestMemory: Sendable {
  struct Key: Sendable, Hashable {
    var bundleId: String
    var environment: AppStoreEnvironment
    var endpoint: APIEndpoint
    /// What the request is about: a subscription, or a product.
    var subject: String
    var requestIdentifier: String
  }

  /// What is known of a request before it is carried out.
  struct Recall: Sendable, Hashable {
    /// The answer to give again; nil: carry the request out.
    var answer: APIAnswer?
    /// The identifier came with another body before, or for another subject.
    var isReused = false
    /// The same request succeeded before, and the model makes Apple forget it.
    var repeatsEffect = false
  }

  private struct Entry: Sendable {
    var digest: SHA256Digest
    var answer: APIAnswer?
    var succeeded = false
  }

  private struct Identifier: Sendable, Hashable {
    var bundleId: String
    var environment: AppStoreEnvironment
    var requestIdentifier: String
  }

  let model: RequestMemoryModel
  private var entries: BoundedMemory<Key, Entry>
  private var subjects: BoundedMemory<Identifier, String>

  init(_ model: RequestMemoryModel, capacity: Int = 1_000_000) {
    self.model = model
    entries = BoundedMemory(capacity: capacity)
    subjects = BoundedMemory(capacity: capacity)
  }

  /// What is known of the request with that body; remembers that it came.
  mutating func recall(_ key: Key, body: [UInt8]) -> Recall {
    let digest = SHA256.hash(data: body)
    let identifier = Identifier(
      bundleId: key.bundleId, environment: key.environment, requestIdentifier: key.requestIdentifier)
    var recall = Recall()
    if let subject = subjects[identifier], subject != key.subject { recall.isReused = true }
    subjects[identifier] = key.subject
    guard let entry = entries[key] else {
      entries[key] = Entry(digest: digest)
      return recall
    }
    if entry.digest != digest { recall.isReused = true }
    switch model {
    case .everything: recall.answer = entry.answer
    case .successes: recall.answer = entry.succeeded ? entry.answer : nil
    case .nothing: recall.repeatsEffect = entry.succeeded
    }
    return recall
  }

  /// Remembers what was decided. Failures of the service itself are no decision.
  mutating func remember(_ answer: APIAnswer, for key: Key) {
    guard var entry = entries[key], answer.status < 500, answer.status != 429 else { return }
    entry.answer = answer
    entry.succeeded = entry.succeeded || answer.status == 200
    entries[key] = entry
  }
}
