// The state as findings of the doctor.

internal import KafkaClient
package import MillraceCore
package import Operations

extension DeploymentStatus {
  /// Reads the state, and returns findings on the workers, and the conditions apart from those that other checks of the
  /// doctor find.
  package static func findings(_ configuration: MillraceConfiguration) async throws -> [DoctorFinding] {
    try await read(configuration, configuration.kafka.outsideClient()).findings(configuration.alerts)
  }

  func findings(_ settings: AlertSettings) -> [DoctorFinding] {
    let all = conditions(settings)
    var findings = all.filter { ![.workerNotRunning, .certificate].contains($0.kind) }.map {
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
    if findings.isEmpty { findings = [DoctorFinding(.conditions, .good, "nothing needs attention")] }
    return workerFindings(all) + findings
  }

  private func workerFindings(_ conditions: [AlertCondition]) -> [DoctorFinding] {
    let failures =
      refused.sorted { $0.key < $1.key }.map { DoctorFinding(.workers, $0.value, of: $0.key) }
      + conditions.filter { $0.kind == .workerNotRunning }.map {
        DoctorFinding(.workers, .failure, $0.what, of: $0.subject, remedy: $0.remedy)
      }
    guard failures.isEmpty else { return failures }
    if workers.isEmpty { return [DoctorFinding(.workers, .good, "the configuration has no worker")] }
    let known = workers.compactMap(\.processes)
    guard known.count == workers.count else {
      return [DoctorFinding(.workers, .skipped, "neither the cluster nor any process says who runs")]
    }
    let what =
      "\(HumanText.count(workers.count, "worker")) run, with \(HumanText.count(known.joined().count, "member"))"
    return [DoctorFinding(.workers, .good, what)]
  }
}
