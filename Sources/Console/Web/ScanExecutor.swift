// Runs the requests that read topics on a thread of their own, so that they take one core at most. On the shared threads,
// every other page would wait until each of them suspends.

internal import Dispatch

/// Runs tasks one after the other on one thread.
final class ScanExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "millrace.console.scans")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
