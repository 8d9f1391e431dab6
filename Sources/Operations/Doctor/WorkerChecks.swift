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
    let admin = KafkaAdmin(kafka)
    var members: [String: [GroupMember]] = [:]
    for name in configuration.workerNames {
      let topics = WorkerTopics(worker: name, inputs: [], delays: [], prefix: configuration.topics.prefix)
      members[name] = try await admin.members(ofGroup: topics.group, timeout: timeout)
    }
    return members
  }

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
          .workers, .failure, "no process of the worker runs", of: $0,
          remedy: "start it, and read the last line of its log; remove its entry under workers if it is not needed")
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
