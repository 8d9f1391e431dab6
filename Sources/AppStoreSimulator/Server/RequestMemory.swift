// Whether Apple remembers a `requestIdentifier`. Apple's documentation says to reuse it for the same request but not
// what happens then. A caller therefore has to be correct under every model.

internal import AppStore
internal import Crypto

/// The requests that Apple remembers by their `requestIdentifier`.
package enum RequestMemoryModel: String, Sendable, Hashable, CaseIterable {
  /// All decided requests, including rejected ones. The same identifier receives the same response.
  case everything
  /// Successful requests only. A rejected request is decided again.
  case successes
  /// None. Every request is new, so an extension that is sent twice extends twice.
  case nothing
}

/// The identifiers that callers have used, and the responses to them.
struct RequestMemory: Sendable {
  struct Key: Sendable, Hashable {
    var bundleId: String
    var environment: AppStoreEnvironment
    var endpoint: SimulatedEndpoint
    /// The subscription or product that the request applies to.
    var subject: String
    var requestIdentifier: String
  }

  /// The knowledge about a request before it is executed.
  struct Recall: Sendable, Hashable {
    /// The response to repeat; nil to execute the request.
    var answer: APIAnswer?
    /// Whether the identifier was used before with another body or for another subject.
    var isReused = false
    /// Whether the same request succeeded before and the model does not remember it.
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

  /// Looks up the request with this body and records its arrival.
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

  /// Remembers a response. Server errors and 429 are not decisions and are not remembered.
  mutating func remember(_ answer: APIAnswer, for key: Key) {
    guard var entry = entries[key], answer.status < 500, answer.status != 429 else { return }
    entry.answer = answer
    entry.succeeded = entry.succeeded || answer.status == 200
    entries[key] = entry
  }
}
