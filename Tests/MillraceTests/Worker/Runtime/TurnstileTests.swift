import Synchronization
import Testing

@testable import Millrace

@Suite(.timeLimit(.minutes(5))) struct TurnstileTests {
  @Test func `no more are inside than there are places, and everybody has a turn, also behind one who failed`()
    async throws
  {
    struct Failure: Error {}
    let turnstile = Turnstile(3)
    let inside = Mutex((now: 0, most: 0, all: 0))
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<60 {
        group.addTask {
          do {
            try await turnstile.pass {
              inside.withLock { inside in
                inside.now += 1
                inside.all += 1
                inside.most = max(inside.most, inside.now)
              }
              for _ in 0..<5 { await Task.yield() }
              inside.withLock { $0.now -= 1 }
              if number.isMultiple(of: 7) { throw Failure() }
            }
          } catch {
            #expect(number.isMultiple(of: 7))
          }
        }
      }
    }
    #expect(inside.withLock { $0.all } == 60)
    #expect(inside.withLock { $0.most } <= 3)
  }
}
