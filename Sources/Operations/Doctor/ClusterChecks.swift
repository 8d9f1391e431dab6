// Compares the cluster with the topic files: topics, replicas and durability. Also writes a record and reads it back.

internal import AppStore
internal import MillraceTime
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords

/// Checks the Kafka cluster.
enum ClusterChecks {
  /// Compares the topics with their files.
  static func topics(_ survey: TopicsSurvey) -> [DoctorFinding] {
    let findings = survey.plan.steps.compactMap { step -> DoctorFinding? in
      let apply = "run millrace topics apply"
      switch step {
      case .keep: return nil
      case .create(let topic, _, _, _):
        return DoctorFinding(.topics, .failure, "the topic is missing", of: topic, remedy: apply)
      case .alter(let topic, let changes):
        let words = changes.map { "\($0.name) is \($0.from ?? "unknown"), expected \($0.to)" }
        return DoctorFinding(.topics, .failure, words.joined(separator: ", "), of: topic, remedy: apply)
      case .owned(let topic, let settings):
        let words = settings.map { "\($0.name) is \($0.from ?? "absent"), expected \($0.to)" }
        return DoctorFinding(
          .topics, .warning, "the cluster does not let it be set: \(words.joined(separator: ", "))", of: topic,
          remedy: "ask the cluster's operator, or declare the cluster's value in a topic file of your own")
      case .addPartitions(let topic, let from, let to):
        return DoctorFinding(
          .topics, .failure, "the topic has \(from) partitions, expected \(to)", of: topic, remedy: apply)
      case .undeclared(let topic, let settings):
        let list = settings.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return DoctorFinding(
          .topics, .warning, "it sets \(list.joined(separator: ", ")), which its file does not declare", of: topic,
          remedy: "declare it in the file, or remove it with kafka-configs --delete-config")
      case .refuse(let topic, let reason):
        // The reason names the problem; the remedy follows a colon or a full stop.
        let end = reason.firstIndex(of: ":")
        return DoctorFinding(
          .topics, .failure, end.map { String(reason[..<$0]) } ?? reason, of: topic,
          remedy: end.map { String(reason[reason.index(after: $0)...].drop { $0 == " " }) }
            ?? "compare with millrace topics plan")
      }
    }
    guard findings.isEmpty else { return findings }
    return [DoctorFinding(.topics, .good, "\(HumanText.count(survey.plan.steps.count, "topic")) match their files")]
  }

  /// Finds missing replicas. Durability depends on the replicas that are in sync.
  static func replicas(_ survey: TopicsSurvey) -> [DoctorFinding] {
    let problems = survey.replicas.problems
    guard !problems.isEmpty else { return [DoctorFinding(.replicas, .good, "every replica is in sync")] }
    return problems.map { DoctorFinding(.replicas, .failure, $0.what, remedy: $0.remedy) }
  }

  /// Compares the cluster's durability with the topic files.
  static func durability(
    _ catalog: TopicCatalog, _ present: [TopicState], _ durability: KafkaSettings.Durability
  ) -> [DoctorFinding] {
    guard durability == .strict else {
      return [
        DoctorFinding(
          .durability, .skipped, "relaxed: durability is not checked",
          of: "kafka.durability", remedy: "remove kafka.durability in production")
      ]
    }
    let weaknesses = DurabilityCheck.weaknesses(declared: catalog.topics, actual: present, durability: durability)
    let findings = weaknesses.compactMap { weakness -> DoctorFinding? in
      if case .missing = weakness { return nil }
      let parts = weakness.description.split(separator: ":", maxSplits: 1).map(String.init)
      return DoctorFinding(
        .durability, .failure, parts[0],
        remedy: parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "compare with millrace topics plan")
    }
    guard findings.isEmpty else { return findings }
    let promised = catalog.topics.filter(\.promise).count
    return [
      DoctorFinding(.durability, .good, "\(HumanText.count(promised, "topic")) are as durable as their files require")
    ]
  }

  /// Measures how long a record takes to Kafka and back.
  static func probe(
    _ log: any RecordLog, prefix: String, clock: MillraceClock, limit: Duration
  ) async -> DoctorFinding {
    let topic = prefix + WorkerTopics.controlTopic
    let started = clock.now
    do {
      let text = Array("probe/\(clock.wallTime.millisecondsSince1970)".utf8)
      let position = try await log.withWriter { writer in
        try await writer.send(
          ProducerRecord(
            topic: topic, partition: 0, key: Array("probe".utf8),
            value: JSONObject([.init(key: "kind", value: "probe")]).serialized(),
            headers: [
              RecordHeader("content-type", "application/json"), RecordHeader(name: "millrace-probe", value: text),
            ]))
      }
      let written = clock.now
      let isThere = try await clock.result(within: limit) {
        let record = try await log.record(
          at: position.offset, of: TopicPartition(topic: topic, partition: position.partition))
        return record?.headers.contains { $0.name == "millrace-probe" && $0.value == text } ?? false
      }
      guard isThere == true else {
        return DoctorFinding(
          .probe, .failure, "a record was acknowledged but could not be read back within \(DurationText.text(limit))",
          of: topic, remedy: "check that this user may read the topic and that its partition has a leader")
      }
      let (there, back) = (started.duration(to: written), written.duration(to: clock.now))
      return DoctorFinding(
        .probe, .good,
        "written in \(Int64(there / .milliseconds(1))) ms, read in \(Int64(back / .milliseconds(1))) ms",
        of: topic, time: there + back)
    } catch {
      return DoctorFinding(.probe, error, of: topic)
    }
  }

  /// Reports that a quota has delayed the clients of the probe.
  static func quotas(_ throttles: ThrottleStatus, at now: ContinuousClock.Instant) -> [DoctorFinding] {
    guard !throttles.throttled(at: now).isEmpty else { return [] }
    return [
      DoctorFinding(
        .probe, .warning, "a quota of the cluster delays this user's clients",
        remedy: "raise producer_byte_rate, consumer_byte_rate or request_percentage of the user or the client ids; "
          + "`kafka-configs.sh --describe --entity-type users --entity-type clients` shows the quotas")
    ]
  }
}
