// The move of a worker to topics with more lanes, as an operator carries it out: direct the ingress to the new topics, let
// the old processes finish, stop them, copy, and start the new ones.

internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords
internal import MillraceTime

@testable internal import Operations

final class LaneMove: @unchecked Sendable {
  static let prefix = "next."

  private enum State {
    /// No operator has begun.
    case idle
    /// The old processes handle what is on the old topics.
    case finishing
    /// The old processes stop.
    case stopping
    case copying
    case done
  }

  private unowned let fleet: Fleet
  private var state = State.idle

  init(_ fleet: Fleet) { self.fleet = fleet }

  /// Whether a move has begun and is not complete.
  var isOpen: Bool { state != .idle && state != .done }

  private var configuration: MillraceConfiguration {
    var configuration = MillraceConfiguration()
    configuration.topics.prefix = Self.prefix
    configuration.topics.lanes = fleet.plan.lanes * fleet.plan.moveFactor
    var worker = WorkerEntry()
    worker.retryDelays = fleet.policy.retryDelays
    configuration.workers[fleet.topics.worker] = worker
    return configuration
  }

  func begin() {
    guard state == .idle else { return }
    do {
      for topic in try TopicCatalog.load(configuration).topics {
        fleet.cluster.create(topic.topic, partitions: topic.lanes)
      }
    } catch {
      return fleet.journal.problem("the new topics cannot be created: \(error)")
    }
    fleet.direct(to: Self.prefix)
    state = .finishing
    look()
  }

  /// Does the operator's next step when it is its time.
  private func look() {
    switch state {
    case .idle, .done: return
    case .finishing:
      if fleet.unread(in: fleet.topics.inputs).isEmpty {
        fleet.timeline.add("operator", "stops every process")
        for machine in fleet.machines {
          machine.isHeld = true
          machine.killReplaced()
          machine.leave()
        }
        state = .stopping
      }
    case .stopping:
      // A machine that is frozen may be one that has lost its network. When it continues, its process stops.
      for machine in fleet.machines { machine.giveUpFrozen() }
      if !fleet.machines.contains(where: \.isRunning), fleet.cluster.group(fleet.topics.group).memberList.isEmpty {
        copy()
        state = .copying
      }
    case .copying: break
    }
    Simulation.call(in: .world, after: .seconds(1)) { [self] in look() }
  }

  private func copy() {
    let cluster = fleet.cluster
    let administration = LaneChange.Administration(
      memberCount: { cluster.group($0).memberList.count },
      topicNames: { prefix in cluster.topics.keys.filter { $0.hasPrefix(prefix) }.sorted() })
    fleet.programs.run("relane", until: { [self] in state == .done }) { [self] log, _ in
      let change = try LaneChange(from: "", to: configuration, on: log, asking: administration, clock: .ofSimulation) {
        [self] in fleet.timeline.note("operator", $0)
      }
      try await change.carryOut(try await change.survey())
      Simulation.deliver(to: .world, after: .zero) { [self] in start() }
    }
  }

  private func start() {
    guard state == .copying else { return }
    state = .done
    fleet.timeline.add("operator", "starts every process with the new topics")
    fleet.move(to: Self.prefix)
    for machine in fleet.machines {
      machine.isHeld = false
      machine.start()
    }
  }
}
