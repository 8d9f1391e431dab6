// The conditions as findings of the doctor.

internal import KafkaClient
package import MillraceCore
package import Operations

extension DeploymentStatus {
  /// Reads the state, and returns its conditions apart from those that other checks of the doctor find.
  package static func findings(_ configuration: MillraceConfiguration) async throws -> [DoctorFinding] {
    try await read(configuration, configuration.kafka.outsideClient()).findings(configuration.alerts)
  }

  func findings(_ settings: AlertSettings) -> [DoctorFinding] {
    var findings = conditions(settings).filter { ![.workerNotRunning, .certificate].contains($0.kind) }.map {
      DoctorFinding(.conditions, .failure, "\($0.kind.rawValue): \($0.what)", of: $0.subject, remedy: $0.remedy)
    }
    if let alerts {
      if alerts.instance == nil {
        findings.append(
          DoctorFinding(
            .conditions, .failure, "no process posts alerts", of: "alerts.webhook", remedy: "start millrace-console"))
      } else if let problem = alerts.problem {
        findings.append(
          DoctorFinding(
            .conditions, .failure, "the process that posts alerts says: \(problem)", of: "alerts.webhook",
            remedy: "correct the receiver's URL or secret, or the console's rights; millrace-console retries"))
      }
    }
    return findings.isEmpty ? [DoctorFinding(.conditions, .good, "nothing needs attention")] : findings
  }
}
