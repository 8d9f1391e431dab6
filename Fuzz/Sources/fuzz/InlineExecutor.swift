// Runs asynchronous code on the calling thread. An input is then finished when its function returns, and the same
// inputs cover the same edges.
internal import Synchronization

/// Executes the jobs of one task at a time, in order.
final class InlineExecutor: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// Runs `body`, which must not wait for other threads.
  func run(_ body: @escaping @Sendable () async -> Bool) -> Bool {
    let result = ResultBox()
    Task(executorPreference: self) { result.value.store(await body() ? 1 : 0, ordering: .releasing) }
    while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    switch result.value.load(ordering: .acquiring) {
    case 0: return false
    case 1: return true
    default: Failure.report("the code under test waited for another thread")
    }
  }

  private func next() -> UnownedJob? {
    jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }
}

private final class ResultBox: Sendable {
  let value = Atomic<Int8>(-1)
}
