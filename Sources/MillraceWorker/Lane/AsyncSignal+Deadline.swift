// A wait that also ends at a time.

package import KafkaClient
package import MillraceTime

extension AsyncSignal {
  /// Waits until the next signal or the deadline, whichever comes first. Returns when the task is cancelled.
  package func wait(until deadline: MillraceClock.Instant?, on clock: MillraceClock) async {
    guard let deadline else { return await wait() }
    let alarm = Task {
      do { try await clock.sleep(until: deadline) } catch { return }
      self.signal()
    }
    await wait()
    alarm.cancel()
  }
}
