import Testing

@testable import Kafka

@Suite(.timeLimit(.minutes(15))) struct WakeSignalTests {
  @Test func `a signal before the wait is not lost`() async {
    let wake = WakeSignal()
    wake.signal()
    await wake.wait()
  }

  @Test func `signals collapse into one`() async {
    let wake = WakeSignal()
    wake.signal()
    wake.signal()
    await wake.wait()
    let second = Task { await wake.wait() }
    wake.signal()
    await second.value
  }

  @Test func `cancellation ends a wait`() async {
    let wake = WakeSignal()
    let waiting = Task { await wake.wait() }
    waiting.cancel()
    await waiting.value
  }

  @Test func `two thousand signals from other tasks strand no waiter`() async {
    let wake = WakeSignal()
    let received = Task {
      for _ in 0..<2_000 { await wake.wait() }
    }
    let signalling = Task {
      while !Task.isCancelled {
        wake.signal()
        await Task.yield()
      }
    }
    await received.value
    signalling.cancel()
  }
}

@Suite(.timeLimit(.minutes(15))) struct RoomWaitersTests {
  @Test func `room made after the ticket was taken is not missed`() async {
    let room = RoomWaiters()
    let ticket = room.ticket()
    room.wakeAll()
    #expect(await room.wait(ticket, until: .now + .seconds(60)))
  }

  @Test func `the deadline ends the wait`() async {
    let room = RoomWaiters()
    #expect(await room.wait(room.ticket(), until: .now) == false)
    #expect(await room.wait(room.ticket(), until: .now + .milliseconds(5)) == false)
  }

  @Test func `all waiters are woken at once`() async {
    let room = RoomWaiters()
    let ticket = room.ticket()
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 { group.addTask { await room.wait(ticket, until: .now + .seconds(60)) } }
      room.wakeAll()
      for await isRoom in group { #expect(isRoom) }
    }
  }
}
