// The three words that an operator has for every run, whichever command began it.

internal import Millrace

/// What an operator may say about a run that somebody else's process carries out.
public enum RunVerb: String, Sendable, Hashable, CaseIterable {
  /// Wait.
  case pause
  /// Go on.
  case resume
  /// End where it stands, for good.
  case stop

  var verb: RunControl.Verb {
    switch self {
    case .pause: .pause
    case .resume: .resume
    case .stop: .stop
    }
  }

  var action: AuditRecord.Action {
    switch self {
    case .pause: .pause
    case .resume: .resume
    case .stop: .stop
    }
  }
}
