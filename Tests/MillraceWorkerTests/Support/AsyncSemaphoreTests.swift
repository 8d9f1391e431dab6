import Synchronization
import Testing

@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct AsyncSemaphoreTests {
  @Test func `the number of concurrent tasks is limited, and a task that throws releases its permit`()
    async throws
  {
    struct Failure: Error {}
    let semaphore = AsyncSemaphore(3)
    let inside = Inside()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<60 {
        group.addTask {
          do {
            try await semaphore.pass {
              inside.enter()
              for _ in 0..<5 { await Task.yield() }
              inside.leave()
              if number.isMultiple(of: 7) { throw Failure() }
            }
          } catch {
            #expect(number.isMultiple(of: 7))
          }
        }
      }
    }
    #expect(inside.all == 60)
    #expect(inside.most <= 3)
  }

  /// Counts the tasks inside.
  private final class Inside: Sendable {
    private let counts = Mutex((now: 0, most: 0, all: 0))

    var most: Int { counts.withLock { $0.most } }
    var all: Int { counts.withLock { $0.all } }

    func enter() {
      counts.withLock { counts in
        counts.now += 1
        counts.all += 1
        counts.most = max(counts.most, counts.now)
      }
    }

    func leave() { counts.withLock { $0.now -= 1 } }
  }
}
