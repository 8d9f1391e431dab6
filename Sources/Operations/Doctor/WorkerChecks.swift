// Checks whether each configured worker runs: whether its consumer group has a member.

package import KafkaClient
package import MillraceCore
internal import MillraceRecords

/// Checks the processes of the configured workers.
package enum WorkerChecks {
  /// The members of the group of each configured worker.
  package static func members(
    of configuration: MillraceConfiguration, _ kafka: KafkaConfiguration, timeout: Duration
  ) async throws(KafkaError) -> [String: [GroupMember]] {
    let groups = configuration.workerNames.map { name in
      (name, WorkerTopics(worker: name, inputs: [], delays: [], prefix: configuration.topics.prefix).group)
    }
    guard !groups.isEmpty else { return [:] }
    let members = try await KafkaAdmin(kafka).members(ofGroups: groups.map { $0.1 }, timeout: timeout)
    return Dictionary(groups.map { ($0.0, members[$0.1] ?? []) }) { $1 }
  }

  /// The action to take if no process of a worker runs.
  package static let remedy =
    "start it, and read the last line of its log; remove its entry under workers if it is not needed"

  static func findings(
    of configuration: MillraceConfiguration, _ kafka: KafkaConfiguration, timeout: Duration
  ) async -> [DoctorFinding] {
    do {
      return findings(try await members(of: configuration, kafka, timeout: timeout).mapValues(\.count))
    } catch {
      return [DoctorFinding(.workers, error)]
    }
  }

  /// - Parameter members: The number of members of each worker's group.
  static func findings(_ members: [String: Int]) -> [DoctorFinding] {
    guard !members.isEmpty else { return [DoctorFinding(.workers, .good, "the configuration has no worker")] }
    let absent = members.filter { $0.value == 0 }.keys.sorted()
    guard absent.isEmpty else {
      return absent.map {
        DoctorFinding(
          .workers, .failure, "no process of the worker runs", of: $0, remedy: remedy)
      }
    }
    let processes = members.values.reduce(0, +)
    return [
      DoctorFinding(
        .workers, .good,
        "\(HumanText.count(members.count, "worker")) run, with \(HumanText.count(processes, "member"))")
    ]
  }
}
