// `millrace status`: the state of each worker. It has the values of the console's first page and of the doctor.

internal import AppStore
package import KafkaClient
internal import Logging
package import MillraceCore
internal import MillraceRecords
internal import MillraceTime
internal import Operations

/// The state of a deployment at one time.
package struct DeploymentStatus: Sendable {
  struct Worker: Sendable {
    var lag: WorkerLag
    /// The members of its group; nil on an embedded cluster, which does not tell them.
    var members: [GroupMember]?
    var retries: [RetryTable.Row]
    /// Open dead letters by cause.
    var dead: [DeadLetterIndex.Group]

    var waiting: Int { retries.reduce(0) { $0 + $1.waiting } }
    var open: Int { dead.reduce(0) { $0 + $1.open } }
  }

  var workers: [Worker]
  /// The number of offsets in the quarantine; nil if it does not exist.
  var quarantine: Int64?
  var at: Timestamp

  init(_ overview: Overview, _ facts: ClusterFacts, quarantine topics: [String], members: [String: [GroupMember]]?) {
    workers = overview.workers.map { lag in
      Worker(
        lag: lag, members: members.map { $0[lag.worker] ?? [] },
        retries: overview.retries.filter { $0.worker == lag.worker },
        dead: overview.deadLetters.groups.filter { $0.worker == lag.worker })
    }
    let kept = facts.ranges.filter { topics.contains($0.key.topic) }.values
    quarantine = kept.isEmpty ? nil : kept.reduce(0) { $0 + Int64($1.count) }
    at = overview.now
  }

  /// Reads the state once, with the console's readers.
  ///
  /// - Parameter limit: The time limit for all topics that are read.
  /// - Throws: `KafkaError` if the cluster does not answer; ``OperationError`` if the limit passes; `MillraceError`.
  package static func read(
    _ configuration: MillraceConfiguration, _ kafka: KafkaConfiguration, within limit: Duration = .seconds(60)
  ) async throws -> DeploymentStatus {
    let topics = ConsoleTopics(try TopicCatalog.load(configuration), configuration)
    let cluster = try await kafka.describeCluster(timeout: ClusterSurvey.timeout)
    let members =
      cluster.isEmbedded
      ? nil : try await WorkerChecks.members(of: configuration, kafka, timeout: ClusterSurvey.timeout)
    let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let store = ConsoleStore(
      topics, deadLetters: configuration.console.deadLetters, clock: MillraceClock(configuration.clock)
    ) { changed.yield() }
    let reader = ConsoleReader(
      configuration: configuration, kafka: kafka, topics: topics, store: store,
      logger: Logger(label: "millrace.status") { _ in SwiftLogNoOpLogHandler() })
    let isRead = try await MillraceClock.system.result(within: limit) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await reader.run() }
        group.addTask {
          for await _ in changes { if await store.isCaughtUp { return } }
        }
        try await group.next()
        group.cancelAll()
      }
      return true
    }
    let overview = await store.overview()
    guard isRead == true else {
      throw OperationError(
        .failed, overview.problems.values.sorted().first ?? "not all topics could be read in time", at: "Kafka",
        remedy: "run millrace doctor")
    }
    return DeploymentStatus(
      overview, await store.facts, quarantine: topics.names { $0 == .quarantine }, members: members)
  }
}

// MARK: - For people and scripts

extension DeploymentStatus {
  /// A line of JSON for each worker, and one for the deployment.
  package var jsonLines: [String] {
    var deployment: JSONObject = ["at": .string(at.rfc3339)]
    deployment["quarantine"] = quarantine.map { .integer($0) }
    return (workers.map(\.json) + [deployment]).map { String(decoding: $0.serialized(), as: UTF8.self) }
  }

  /// Whether every configured worker has a process, as far as the cluster tells.
  package var isComplete: Bool { workers.allSatisfy { $0.members?.isEmpty != true } }

  /// A table of the workers, and a sentence about the quarantine.
  package func lines(lineWidth: Int?, usesColor: Bool) -> [String] {
    let columns = [
      TextColumn("WORKER"), TextColumn("PROCESSES"), TextColumn("LAG", alignment: .right), TextColumn("OLDEST"),
      TextColumn("RETRIES", alignment: .right), TextColumn("DEAD LETTERS", alignment: .right), TextColumn(""),
    ]
    let table = TextTable.lines(
      columns, rows: workers.map { $0.row(at: at) }, lineWidth: lineWidth, usesColor: usesColor)
    return table + [quarantine.map { "Quarantine: \(HumanText.count(Int($0), "record"))." }].compactMap(\.self)
  }
}

extension DeploymentStatus.Worker {
  fileprivate func row(at now: Timestamp) -> [TextCell] {
    let processes =
      switch members?.count {
      case nil: TextCell("unknown", .dim)
      case 0?: TextCell("none runs", .red)
      case let count?: TextCell("\(count)")
      }
    let age = lag.oldest.map { DurationText.text(.seconds(max(0, (now - $0).components.seconds))) } ?? ""
    let causes = dead.prefix(3).map { "\($0.open) \($0.reason)" }.joined(separator: ", ")
    let note = !lag.hasTopics ? "its topics do not exist" : !lag.hasRun ? "has not run" : causes
    return [
      TextCell(lag.worker, .cyan), processes, TextCell("\(lag.records)"), TextCell(age), TextCell("\(waiting)"),
      TextCell("\(open)", open > 0 ? .red : .dim), TextCell(note, .dim),
    ]
  }

  fileprivate var json: JSONObject {
    var json: JSONObject = ["worker": .string(lag.worker), "hasTopics": .bool(lag.hasTopics)]
    json["hasRun"] = .bool(lag.hasRun)
    json["processes"] = members.map { members in
      .array(
        members.map { member in
          var process: JSONObject = ["host": .string(member.host)]
          process["instance"] = member.instance.map { .string($0) }
          process["lanes"] = .array(Set(member.partitions.map(\.partition)).sorted().map { .integer(Int64($0)) })
          return .object(process)
        })
    }
    json["lag"] = .integer(lag.records)
    json["oldest"] = lag.oldest.map { .string($0.rfc3339) }
    json["lanes"] = .array(
      lag.lanes.map { lane in
        var lag: JSONObject = ["lane": .integer(Int64(lane.lane)), "lag": .integer(lane.records)]
        lag["oldest"] = lane.oldest.map { .string($0.rfc3339) }
        return .object(lag)
      })
    json["retries"] = .array(
      retries.map { row in
        var retry: JSONObject = ["delay": .string(row.delay), "waiting": .integer(Int64(row.waiting))]
        retry["next"] = row.next.map { .string($0.rfc3339) }
        return .object(retry)
      })
    json["deadLetters"] = .array(
      dead.map { group in
        [
          "reason": .string(group.reason), "bundleId": .string(group.bundleId), "open": .integer(Int64(group.open)),
          "oldest": .string(group.oldest.rfc3339), "newest": .string(group.newest.rfc3339),
        ]
      })
    return json
  }
}
