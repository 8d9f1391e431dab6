import Synchronization
import TestEnvironment
import Testing

@testable import KafkaClient

@Suite(.timeLimit(.minutes(15))) struct AsyncSignalTests {
  @Test func `a signal before the wait is not lost`() async {
    let wake = AsyncSignal()
    wake.signal()
    await wake.wait()
  }

  @Test func `signals collapse into one`() async throws {
    let wake = AsyncSignal()
    wake.signal()
    wake.signal()
    #expect(wake.isSignalled)
    await wake.wait()
    // The first wait consumed both signals, so the next wait must not return.
    #expect(!wake.isSignalled)
    let returned = Mutex(false)
    let second = Task {
      await wake.wait()
      returned.withLock { $0 = true }
    }
    try await waitUntil(wake.isAwaited || returned.withLock { $0 })
    #expect(!returned.withLock { $0 })
    wake.signal()
    await second.value
    #expect(!wake.isSignalled)
  }

  @Test func `cancellation ends a wait`() async {
    let wake = AsyncSignal()
    let waiting = Task { await wake.wait() }
    waiting.cancel()
    await waiting.value
  }

  @Test func `two thousand signals from another task wake every wait`() async {
    let wake = AsyncSignal()
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

@Suite(.timeLimit(.minutes(15))) struct QueueSpaceWaitersTests {
  @Test func `space freed after the ticket was issued is not missed`() async {
    let room = QueueSpaceWaiters()
    let ticket = room.ticket()
    room.wakeAll()
    #expect(await room.wait(ticket, until: .now + .seconds(60)))
  }

  @Test func `the deadline ends the wait`() async {
    let room = QueueSpaceWaiters()
    #expect(await room.wait(room.ticket(), until: .now) == false)
    #expect(await room.wait(room.ticket(), until: .now + .milliseconds(5)) == false)
  }

  @Test func `all waiters are woken at once`() async {
    let room = QueueSpaceWaiters()
    let ticket = room.ticket()
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 { group.addTask { await room.wait(ticket, until: .now + .seconds(60)) } }
      room.wakeAll()
      for await isRoom in group { #expect(isRoom) }
    }
  }
}
