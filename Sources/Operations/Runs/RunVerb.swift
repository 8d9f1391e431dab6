// The requests that an operator can make of any run.

internal import MillraceRecords
internal import MillraceWorker

/// An operator's request to the process that carries out a run.
package enum RunVerb: String, Sendable, Hashable, CaseIterable {
  /// Pause the run.
  case pause
  /// Continue the run.
  case resume
  /// Stop the run for good.
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
