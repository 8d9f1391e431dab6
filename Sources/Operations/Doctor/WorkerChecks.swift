// Checks whether each configured worker runs: whether its consumer group has a member.

internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords

/// Checks the processes of the configured workers.
struct WorkerChecks: Sendable {
  private let admin: KafkaAdmin
  private let configuration: MillraceConfiguration
  private let timeout: Duration

  init(_ kafka: KafkaConfiguration, _ configuration: MillraceConfiguration, timeout: Duration) {
    admin = KafkaAdmin(kafka)
    (self.configuration, self.timeout) = (configuration, timeout)
  }

  func findings() async -> [DoctorFinding] {
    var members: [String: Int] = [:]
    for name in configuration.workerNames {
      let topics = WorkerTopics(worker: name, inputs: [], delays: [], prefix: configuration.topics.prefix)
      do {
        members[name] = try await admin.members(ofGroup: topics.group, timeout: timeout).count
      } catch {
        return [DoctorFinding(.workers, error, of: topics.group)]
      }
    }
    return Self.findings(members)
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
