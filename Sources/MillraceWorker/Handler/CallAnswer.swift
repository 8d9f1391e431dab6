// The answer of a call over HTTP after which a handler run failed, for the log and the record.

internal import AppStore
package import AppStoreServerAPI

/// The facts of an answer. A log line has the codes, and the title of a problem document.
package struct CallAnswer: Sendable, Hashable {
  /// The HTTP status; nil if there was no answer.
  package var status: Int?
  /// The `type` of the problem document.
  package var problemType: String?
  /// The `title` of the problem document.
  package var problemTitle: String?
  /// Apple's error code, with its name if it has one.
  package var appleError: String?
  /// Whether the failure's detail has text that the other side wrote. Such text may name a person, so the log has it only
  /// at debug level.
  package var detailIsForeign = false

  /// An ``AnswerExcerpt`` of the body, which a retried record and a dead letter keep; nil if the call has none. The log
  /// never has it.
  package var excerpt: String?

  /// Creates an answer with a status alone.
  package init(status: Int? = nil) { self.status = status }

  /// The answer of Apple's API. Apple's message is part of the error's description.
  package init(_ error: APIError) {
    status = error.status
    appleError = error.code.map { code in code.name.map { "\($0) (\(code))" } ?? "\(code)" }
    detailIsForeign = error.message != nil
  }
}

extension Outcome {
  /// Returns a copy that names the answer that led to it.
  package func after(_ answer: CallAnswer?) -> Outcome {
    var outcome = self
    outcome.answer = answer
    return outcome
  }
}
