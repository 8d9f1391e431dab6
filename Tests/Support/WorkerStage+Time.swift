// Time passes in a stage only when the test wants it to, and after the processes have done what is due.

internal import AppStoreSimulator
internal import KafkaClient
internal import MillraceTesting
internal import MillraceTime
internal import MillraceWorker

extension WorkerStage {
  /// Advances time for the processes and the App Store.
  package func passTime(_ duration: Duration) throws {
    time.advance(by: duration)
    try world.run(until: now)
  }

  /// Waits until a condition holds.
  ///
  /// - Parameter meanwhile: Runs after each time that it does not hold, for instance to advance time.
  /// - Throws: ``HarnessError/restless(after:)`` after two minutes of real time.
  package func until(meanwhile: () throws -> Void = {}, _ holds: () async throws -> Bool) async throws {
    let patience = Duration.seconds(120)
    let end = ContinuousClock.now + patience
    while try await !holds() {
      guard ContinuousClock.now < end else { throw HarnessError.restless(after: patience) }
      try Task.checkCancellation()
      try meanwhile()
      for _ in 0..<20 { await Task.yield() }
    }
  }

  /// Waits until all records are read, and no record is with a handler or waits for its commit. Handlers may wait for
  /// rate-limit slots, and delayed records for their time.
  ///
  /// - Parameter sleeping: The number of handlers that wait for virtual time. If nil, none may.
  package func awaitRest(sleeping: (() -> Int)? = nil, meanwhile: () throws -> Void = {}) async throws {
    try await until(meanwhile: meanwhile) {
      var taken: [TopicPartition: Int64] = [:]
      var handlers = 0
      for process in self.living {
        guard let rest = await process.runtime.rest(), sleeping == nil ? rest.isQuiet : rest.isStill,
          rest.hasRead(self.log)
        else { return false }
        handlers += rest.handlers
        taken.merge(rest.taken) { max($0, $1) }
      }
      // Every lane has an owner, which has read it.
      let isRead = self.topics.sources.allSatisfy { topic in
        (0..<self.lanes).map { TopicPartition(topic: topic, partition: Int32($0)) }
          .allSatisfy { taken[$0, default: 0] >= self.log.readableEnd(of: $0) }
      }
      return isRead && sleeping.map { $0() == handlers } ?? true
    }
  }
}

extension WorkerRest {
  /// Whether the owner of these lanes has read all their records.
  func hasRead(_ log: InMemoryLog) -> Bool {
    taken.allSatisfy { partition, offset in log.readableEnd(of: partition) <= offset }
  }
}
