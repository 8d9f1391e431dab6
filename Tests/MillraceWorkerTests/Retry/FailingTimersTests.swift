// Tests timers whose handler fails, by running processes: their delays, their count across restarts, and their end.

import AppStore
import KafkaClient
import MillraceTesting
import MillraceTime
import Testing

@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct FailingTimersTests {
  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce])
  func `a timer that always fails is tried as often as a record, also if its process restarts, and can be requeued`(
    commit: KafkaSettings.Commit
  ) async throws {
    let fleet = try WorkerFleet(lanes: 1, commit: commit) { $0.maximumAttempts = 5 }
    let (isMended, times) = (FleetProcess.Shared(false), FleetProcess.Shared<[Timestamp]>([]))
    let clock = fleet.time.clock
    var handler = FleetHandler(Book()) { item, recorder in
      let answer = try await FleetHandler.answer(item, recorder)
      guard item.id == "sets" else { return answer }
      return answer.settingTimer("fails", at: clock.wallTime, payload: [7])
    }
    handler.fired = { timer, _ in
      times.change { $0.append(clock.wallTime) }
      guard isMended.get() else { throw HandlerFailed("not yet") }
      return try .emit(FleetHandler.Answer(id: timer.name))
    }
    func value(_ metric: String) -> String? {
      fleet.metrics.render().split(separator: "\n").first { $0.hasPrefix("\(metric){") }?.split(separator: " ").last
        .map { String($0) }
    }
    var process = fleet.start("p0", handler)
    try fleet.put("sets", key: "k")
    #expect(await fleet.until { times.get().count == 2 } != nil)
    // The second failure is committed before the process ends.
    await fleet.until(within: .seconds(5)) { false }
    #expect(value("millrace_worker_timers_failing") == "1")
    await process.crash()
    process = fleet.start("p1", handler)
    let isDead = await fleet.until { fleet.log.records(in: fleet.topics.deadLetters).count == 1 }
    #expect(isDead != nil)
    #expect(times.get().count == 5, "the attempts before the restart count")
    let gaps = zip(times.get().dropFirst(), times.get()).map { $0 - $1 }
    for (gap, delay) in zip(gaps, [Duration.seconds(2), .seconds(20), .seconds(20), .seconds(20)]) {
      #expect(gap >= delay && gap < delay + .seconds(2) || gap >= delay && gap < .seconds(40), "\(gaps)")
    }
    let letter = try #require(fleet.log.records(in: fleet.topics.deadLetters).first)
    #expect(WorkerFleet.header("millrace-reason", of: letter) == "attempts-exhausted")
    #expect(await fleet.until { value("millrace_worker_timers_failing") == "0" } != nil)
    #expect(value("millrace_worker_timer_failures_total") == "5")

    isMended.set(true)
    let command = OperationCommand(
      id: "c", item: OperationCommand.deadLetter(lane: 0, offset: letter.offset), worker: "mill", lane: 0,
      action: .requeue, why: "mended", by: "ann", at: fleet.time.clock.wallTime)
    try fleet.log.append(OperationsRecord.command(command).producerRecord(fleet.topics.operations))
    #expect(await fleet.until { fleet.answered().contains { $0.hasPrefix("timer/fails/") } } != nil)
    #expect(fleet.operations().status(of: command.item)?.failure == nil && times.get().count == 6)
    await process.crash()
  }
}
