// Checks whether each configured worker runs: whether its consumer group has a member.

internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords

/// Checks the processes of the configured workers.
package enum WorkerChecks {
  /// The action to take if no process of a worker runs.
  package static let remedy =
    "start it, and read the last line of its log; remove its entry under workers if it is not needed"

  static func findings(
    of configuration: MillraceConfiguration, _ kafka: KafkaConfiguration, timeout: Duration
  ) async -> [DoctorFinding] {
    let groups = configuration.workerNames.map { name in
      (name, WorkerTopics(worker: name, inputs: [], delays: [], prefix: configuration.topics.prefix).group)
    }
    guard !groups.isEmpty else { return findings([:]) }
    do {
      let members = try await KafkaAdmin(kafka).members(ofGroups: groups.map { $0.1 }, timeout: timeout)
      return findings(Dictionary(groups.map { ($0.0, members[$0.1]?.map(\.count) ?? .success(0)) }) { $1 })
    } catch {
      return [DoctorFinding(.workers, error)]
    }
  }

  /// - Parameter members: The number of members of each worker's group, or the refusal of its coordinator.
  static func findings(_ members: [String: Result<Int, KafkaError>]) -> [DoctorFinding] {
    guard !members.isEmpty else { return [DoctorFinding(.workers, .good, "the configuration has no worker")] }
    var processes = 0
    let failures = members.sorted { $0.key < $1.key }.compactMap { worker, answer -> DoctorFinding? in
      switch answer {
      case .failure(let error): return DoctorFinding(.workers, error, of: worker)
      case .success(0):
        return DoctorFinding(.workers, .failure, "no process of the worker runs", of: worker, remedy: remedy)
      case .success(let count):
        processes += count
        return nil
      }
    }
    guard failures.isEmpty else { return failures }
    return [
      DoctorFinding(
        .workers, .good,
        "\(HumanText.count(members.count, "worker")) run, with \(HumanText.count(processes, "member"))")
    ]
  }
}
