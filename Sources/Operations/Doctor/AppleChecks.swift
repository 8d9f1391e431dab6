// Checks that Apple answers with the key of each app and that a test notification arrives in Kafka.

internal import AppStore
internal import AppStoreServerAPI
internal import MillraceTime
internal import KafkaClient
internal import MillraceRecords
internal import Synchronization

/// Checks one app in one environment.
struct AppleChecks: Sendable {
  let client: AppStoreServerClient
  let target: BackfillTarget
  let clock: MillraceClock

  /// Requests the history of the last hour to check that Apple accepts the key.
  func reach() async -> DoctorFinding {
    let now = clock.wallTime
    let request = NotificationHistoryRequest(startDate: now - .seconds(3_600), endDate: now)
    let started = clock.now
    var pages = client.getUnverifiedNotificationHistory(request, in: target.environment).makeAsyncIterator()
    do throws(APIError) {
      _ = try await pages.next()
      let time = started.duration(to: clock.now)
      return DoctorFinding(
        .apple, .good, "Apple accepted the key, in \(Int64(time / .milliseconds(1))) ms", of: target.description,
        time: time)
    } catch {
      return finding(.apple, error)
    }
  }

  /// Requests a test notification and waits for it in its topic.
  ///
  /// - Parameters:
  ///   - topic: The name of the test notifications' topic in Kafka.
  ///   - limit: The time limit for Apple's attempt, and again for the record to arrive after it.
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
        .failure, "Apple could not deliver the notification: \(result?.rawValue ?? "no result")",
        "check \(result.flatMap { TestDelivery.advice($0) } ?? "the ingress's log") and the \(target.environment) URL "
          + "in App Store Connect")
    case .pending:
      return found(
        .failure, "Apple has not tried within \(DurationText.text(limit))",
        "run it again with a longer --wait, and check Apple's system status page")
    case .delivered:
      guard let id = delivery.notification?.notificationUUID, let seen = await watch.wait(for: id, atMost: limit) else {
        return found(
          .failure, "a server accepted the notification, but it is not in \(topic)",
          "check that the \(target.environment) URL in App Store Connect is this ingress: another server or a "
            + "proxy receives the notifications. Fetch those it received with millrace backfill")
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

/// Watches the topic of test notifications for new records.
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

  /// Waits for a notification and returns its time of arrival; nil if the limit passed.
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
