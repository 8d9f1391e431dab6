// Apple, as this deployment reaches it: with the key of each app, and back to its own topics.

internal import AppStore
internal import AppStoreServerAPI
internal import Clocks
internal import Kafka
internal import Millrace
internal import Synchronization

/// Asks Apple about one app in one environment.
struct AppleChecks: Sendable {
  let client: AppStoreServerClient
  let target: BackfillTarget
  let clock: MillraceClock

  /// Whether Apple answers with this key: the history of the last hour.
  func reach() async -> DoctorFinding {
    let now = clock.wallTime
    let request = NotificationHistoryRequest(startDate: now - .seconds(3_600), endDate: now)
    let started = clock.now
    var pages = client.getUnverifiedNotificationHistory(request, in: target.environment).makeAsyncIterator()
    do throws(APIError) {
      _ = try await pages.next()
      let time = started.duration(to: clock.now)
      return DoctorFinding(
        .apple, .good, "answers with this key, in \(Int64(time / .milliseconds(1))) ms", of: target.description,
        time: time)
    } catch {
      return finding(.apple, error)
    }
  }

  /// Whether what Apple posts comes to Kafka: requests a test notification and waits for it in its topic.
  ///
  /// - Parameters:
  ///   - topic: That of test notifications, by its name in Kafka.
  ///   - limit: How long Apple may take to try, and the record to come after that.
  func arrival(in topic: String, of log: any RecordLog, waiting limit: Duration) async -> DoctorFinding {
    do {
      let watch = try await TestTopicWatch(topic, of: log, clock: clock)
      return await withThrowingTaskGroup(of: Void.self) { group in
        watch.start(in: &group)
        defer { group.cancelAll() }
        return await requested(watch, topic, limit)
      }
    } catch {
      return DoctorFinding(.testNotification, error, of: target.description)
    }
  }

  private func requested(_ watch: TestTopicWatch, _ topic: String, _ limit: Duration) async -> DoctorFinding {
    let started = clock.now
    let delivery: TestDelivery
    do {
      delivery = try await TestNotificationOperation(client, in: target.environment, clock: clock)
        .run(waiting: limit) { _ in }
    } catch let error as APIError {
      return finding(.testNotification, error)
    } catch {
      return DoctorFinding(.testNotification, error, of: target.description)
    }
    func found(_ severity: DoctorFinding.Severity, _ what: String, _ remedy: String?, _ time: Duration? = nil)
      -> DoctorFinding
    {
      DoctorFinding(.testNotification, severity, what, of: target.description, remedy: remedy, time: time)
    }
    switch delivery.outcome {
    case .failed:
      let result = delivery.attempts.last?.sendAttemptResult
      return found(
        .failure, "Apple did not get through: \(result?.rawValue ?? "no result")",
        "look at \(result.flatMap { TestDelivery.advice($0) } ?? "the ingress's log"), and at the \(target.environment) URL in "
          + "App Store Connect")
    case .pending:
      return found(
        .failure, "Apple has not tried within \(DurationText.text(limit))",
        "run it again with a longer --wait; look at Apple's system status page")
    case .delivered:
      guard let id = delivery.notification?.notificationUUID, let seen = await watch.wait(for: id, atMost: limit) else {
        return found(
          .failure, "somebody answered Apple with success, and it is not in \(topic)",
          "compare the \(target.environment) URL in App Store Connect with the address of this ingress: another server, or "
            + "something in front of it, takes the notifications. What it took is brought by millrace backfill")
      }
      let time = started.duration(to: seen)
      return found(
        .good, "requested, posted by Apple, and in Kafka after \(Int64(time / .milliseconds(1))) ms", nil, time)
    }
  }

  private func finding(_ check: DoctorFinding.Check, _ error: APIError) -> DoctorFinding {
    DoctorFinding(
      check, FailureReport(error).status == .configuration ? .configuration : .failure, error.what,
      of: target.description, remedy: error.advice)
  }
}

/// Sees what comes into the topic of test notifications from now on.
private final class TestTopicWatch: Sendable {
  private struct State {
    var seen: [String: MillraceClock.Instant] = [:]
    var waiting: [String: AsyncStream<MillraceClock.Instant>.Continuation] = [:]
  }

  private let log: any RecordLog
  private let starts: [TopicPartition: Int64]
  private let clock: MillraceClock
  private let state = Mutex(State())

  init(_ topic: String, of log: any RecordLog, clock: MillraceClock) async throws {
    self.log = log
    self.clock = clock
    guard let count = try await log.partitionCounts(of: [topic], timeout: .seconds(15))[topic] else {
      throw OperationError(.failed, "the topic is missing", at: topic, remedy: "run millrace topics apply")
    }
    let partitions = (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }
    starts = try await log.highWatermarks(of: partitions, timeout: .seconds(15)).mapValues(\.upperBound)
  }

  func start(in group: inout ThrowingTaskGroup<Void, any Error>) {
    for (partition, offset) in starts {
      group.addTask { [self] in
        _ = try await log.scan(partition, from: .offset(offset), to: .never, upTo: 100) { page in
          for record in page { if let id = NotificationEnvelope(record).id { self.see(id) } }
        }
      }
    }
  }

  private func see(_ id: String) {
    let now = clock.now
    let waiter = state.withLock { state in
      state.seen[id] = state.seen[id] ?? now
      return state.waiting.removeValue(forKey: id)
    }
    waiter?.yield(now)
    waiter?.finish()
  }

  /// When the notification came; nil where it has not.
  func wait(for id: String, atMost limit: Duration) async -> MillraceClock.Instant? {
    let (arrivals, continuation) = AsyncStream.makeStream(of: MillraceClock.Instant.self)
    let seen = state.withLock { state in
      if state.seen[id] == nil { state.waiting[id] = continuation }
      return state.seen[id]
    }
    if let seen { return seen }
    do {
      return try await clock.result(within: limit) { await arrivals.first { _ in true } } ?? nil
    } catch {
      return nil
    }
  }
}
