// The findings of `millrace handler check`, for people and scripts. Pure.

internal import AppStore

/// The result of one check of an endpoint.
package struct HandlerFinding: Sendable, Hashable {
  /// The checks, in the order in which they run.
  package enum Check: String, Sendable, Hashable, CaseIterable {
    /// A signed notification is answered with an outcome.
    case answer
    /// A request without a signature is refused.
    case signatureMissing = "signature-missing"
    /// A request with the signature of another secret is refused.
    case signatureWrong = "signature-wrong"
    /// A request whose body was changed is refused.
    case signatureBody = "signature-body"
    /// A request that is an hour old is refused.
    case signatureOld = "signature-old"
    /// A request with several signatures is accepted if one is valid.
    case signatureRotated = "signature-rotated"
    /// A repeated request has the same outcome.
    case idempotence
    /// Every type of notification is answered.
    case types
    /// A notification of version 1 is answered.
    case versionOne = "version-1"
    /// The state that the endpoint stored is accepted.
    case state
    /// A timer is answered.
    case timer
    /// The result of a call to Apple is answered, also a failed one.
    case callResult = "call-result"
    /// A type and members that do not exist today are accepted.
    case unknown
    /// A body that is no JSON is refused.
    case malformed
    /// A dry run is confirmed and has no effect on the next request.
    case dryRun = "dry-run"
    /// The answers come in time.
    case speed
  }

  /// The severity of a finding.
  package enum Severity: String, Sendable, Hashable {
    /// The endpoint does what the protocol says.
    case good
    /// The check did not run.
    case skipped
    /// It works, but is close to a limit, or the endpoint gives up.
    case warning
    /// The endpoint does not do what the protocol says.
    case failure
  }

  /// The check.
  package var check: Check
  /// The severity.
  package var severity: Severity
  /// The finding, in one clause.
  package var what: String
  /// The action to take; nil if none is needed.
  package var remedy: String?

  init(_ check: Check, _ severity: Severity, _ what: String, remedy: String? = nil) {
    self.check = check
    self.severity = severity
    self.what = what
    self.remedy = remedy
  }

  /// One JSON object.
  package var jsonLine: String {
    var json: JSONObject = [
      "check": .string(check.rawValue), "result": .string(severity.rawValue), "what": .string(what),
    ]
    json["do"] = remedy.map { .string($0) }
    return String(decoding: json.serialized(), as: UTF8.self)
  }

  /// Lines for people.
  package var lines: [String] {
    let mark =
      switch severity {
      case .good: "ok     "
      case .skipped: "skipped"
      case .warning: "warning"
      case .failure: "FAILED "
      }
    let name = check.rawValue + String(repeating: " ", count: max(0, 18 - check.rawValue.count))
    let text = TerminalText.safe("\(mark)  \(name)\(what)")
    return [text] + (remedy.map { ["         " + TerminalText.safe("do: \($0)")] } ?? [])
  }
}
