// The circuit in `/readyz` and in the reports of the process.

package import MillraceCore
internal import MillraceRecords

extension ReadinessCheck {
  /// Whether the circuit of a worker's endpoint is closed.
  package static func endpoint(of worker: String, _ gate: CircuitGate) -> ReadinessCheck {
    ReadinessCheck("\(worker)-endpoint", remedy: "restart the process") {
      let status = gate.status
      guard status.isOpen else { return .healthy("the endpoint answers") }
      return status.isMisconfigured
        ? .unhealthy(
          "the endpoint answers as if it were misconfigured; records wait",
          remedy: "check its URL and secret, and the endpoint's log")
        : .unhealthy("the endpoint fails; records wait", remedy: "check that the endpoint runs and can be reached")
    }
  }
}

extension CircuitGate.Status {
  /// The circuit in a report; nil if it is closed.
  var report: ProcessReport.Circuit? {
    isOpen ? ProcessReport.Circuit(isMisconfigured: isMisconfigured, cause: cause) : nil
  }
}
