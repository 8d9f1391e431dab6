// What `millrace topics relane` finds before it copies. Pure.

internal import AppStore

/// The workers of a deployment and what prevents their move.
package struct LaneChangeSurvey: Sendable, Hashable {
  /// How far the move of a worker is.
  package enum State: String, Sendable, Hashable {
    /// The worker has no topics with the old prefix.
    case isNew = "new"
    /// Something prevents the move.
    case blocked
    /// The worker can be moved.
    case ready
    /// The worker was moved. It may run with the new topics.
    case moved
  }

  /// One worker.
  package struct Worker: Sendable, Hashable {
    package var name: String
    package var state: State
    package var oldLanes = 0
    package var newLanes = 0
    /// The processes that run with the old topics.
    package var oldProcesses = 0
    /// The processes that run with the new topics.
    package var newProcesses = 0
    /// Whether the worker has committed offsets in the new topics.
    package var hasStarted = false
    /// The new records that it has not handled, at most.
    package var unhandled: Int64 = 0
    /// The records that wait for a retry or for a replay, at most.
    package var waiting: Int64 = 0
    /// The operators' commands that are not finished.
    package var openCommands = 0
    /// The retry topics that the configuration does not name.
    package var unreadDelays: [String] = []
    /// The topics of its families, without prefix.
    package var inputs: [String] = []

    /// Whether everything was copied once.
    package var isMoved = false
    /// The records with copies that its old processes wrote after that.
    package var late = 0
    /// Whether the old ledger may lack the removal of an entry that was copied.
    package var isTooLate = false

    /// Whether a new topic was deleted after copies had been written to it.
    package var isRecreated = false

    /// The obstacle to the move, with its remedy; nil if there is none.
    package var objection: String? {
      if isRecreated {
        return "a new topic was deleted, and the copies in it are lost: begin again with another prefix"
      }
      if isMoved, newProcesses > 0 || hasStarted { return objectionToRunningTwice }
      if isTooLate {
        return "its old processes have run again since the move, for too long to copy the rest: choose another prefix"
      }
      if newProcesses > 0 || hasStarted {
        return "it has already run with the new topics: stop it and choose another prefix"
      }
      if let topic = unreadDelays.first {
        return "records may wait in \(topic): name its delay in `retryDelays`, or delete the topic"
      }
      if unhandled > 0 {
        return
          "it has not handled \(unhandled) records: direct the ingress to the new topics, and let it finish; start it if it does not run"
      }
      if openCommands > 0 {
        return "\(openCommands) commands of operators are not finished: wait for them, or stop them"
      }
      if oldProcesses > 0 {
        return "\(HumanText.count(oldProcesses, "process", plural: "processes")) run: stop them now"
      }
      return nil
    }

    /// The reason why a moved worker that has started is not settled; nil if there is none. The rest cannot be copied now,
    /// because the new processes have their ledgers in memory.
    private var objectionToRunningTwice: String? {
      if late > 0 {
        return
          "its old processes ran again after the move, and wrote \(late) records that the new ones do not know: stop "
          + "the old processes; the new ones may repeat those effects and timers (docs/upgrade.md)"
      }
      if unhandled > 0 {
        return
          "\(unhandled) records reached the old topics after the move: direct the ingress to the new topics, and copy "
          + "them with `millrace replay`"
      }
      if oldProcesses > 0 {
        return
          "\(HumanText.count(oldProcesses, "process", plural: "processes")) run with the old topics after the move: stop them now"
      }
      return nil
    }
  }

  /// The workers, sorted by name.
  package var workers: [Worker] = []
  /// The erasures of customers that the new deployment does not know yet.
  package var erasures = 0

  /// The reason why nothing can be moved now; nil if there is none.
  package var objection: OperationError? {
    guard let worker = workers.first(where: { $0.state == .blocked }) else { return nil }
    return OperationError(
      .failed,
      worker.isMoved ? "the worker was moved, but then its old topics changed" : "the worker cannot be moved yet",
      at: worker.name, remedy: worker.objection ?? "run the command again")
  }

  /// Whether a worker waits for its move, or an erasure for its copy.
  package var hasWork: Bool { erasures > 0 || workers.contains { $0.state == .ready } }

  /// The workers as a table.
  package func lines(width: Int?, usesColor: Bool) -> [String] {
    let columns = [
      TextColumn("WORKER"), TextColumn("LANES"), TextColumn("UNHANDLED", alignment: .right),
      TextColumn("WAITING", alignment: .right), TextColumn("STATE"), TextColumn("WHY"),
    ]
    let rows = workers.map { worker in
      let lanes = worker.state == .isNew ? "" : "\(worker.oldLanes) → \(worker.newLanes)"
      let style: TextStyle = worker.state == .blocked ? .yellow : .plain
      return [
        TextCell(worker.name), TextCell(lanes), TextCell("\(worker.unhandled)"), TextCell("\(worker.waiting)"),
        TextCell(worker.state.rawValue, style),
        TextCell(worker.state == .blocked ? worker.objection ?? "" : ""),
      ]
    }
    return TextTable.lines(columns, rows: rows, lineWidth: width, usesColor: usesColor)
  }

  /// The workers as JSON lines.
  package var jsonLines: [String] {
    workers.map { worker in
      let json: JSONObject = [
        "worker": .string(worker.name), "state": .string(worker.state.rawValue),
        "oldLanes": .integer(Int64(worker.oldLanes)), "newLanes": .integer(Int64(worker.newLanes)),
        "processes": .integer(Int64(worker.oldProcesses)), "unhandled": .integer(worker.unhandled),
        "waiting": .integer(worker.waiting), "late": .integer(Int64(worker.late)),
        "why": worker.state == .blocked ? worker.objection.map { .string($0) } ?? .null : .null,
      ]
      return String(decoding: json.serialized(), as: UTF8.self)
    }
  }
}
