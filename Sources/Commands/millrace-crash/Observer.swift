// Observes events and dead letters as an outside reader while processes die.

import AppStore
import KafkaClient
import MillraceRecords
import Processes
import Synchronization

final class Observer: Sendable {
  private struct State {
    var answered: Set<String> = []
    var dead: Set<String> = []
    var reminded: Set<String> = []
    var processes: Set<Int> = []
    var events = 0
  }

  private let state = Mutex(State())

  /// The notifications with an event.
  var answered: Set<String> { state.withLock { $0.answered } }
  /// The notifications with a dead letter, of their own or of their timer.
  var dead: Set<String> { state.withLock { $0.dead } }
  /// The notifications whose timer has fired.
  var reminded: Set<String> { state.withLock { $0.reminded } }
  /// The number of events, including duplicates.
  var events: Int { state.withLock { $0.events } }

  /// Whether a process has published an event.
  func hasSeen(_ process: Int32) -> Bool { state.withLock { $0.processes.contains(Int(process)) } }

  /// Adds records.
  func take(_ records: [ConsumerRecord]) {
    state.withLock { state in
      for record in records {
        // Unreadable records are reported by the verdict.
        if case .event(let event) = Findings.Found(record) {
          if event.isTimers {
            state.reminded.insert(event.notification)
          } else {
            state.answered.insert(event.notification)
          }
          state.processes.insert(event.process)
          state.events += 1
        } else if DeadLetter(record.headers) != nil,
          let id = record.text("ce_id") ?? record.text("millrace-timer").flatMap({ Findings.notification(ofTimer: $0) })
        {
          state.dead.insert(id)
        }
      }
    }
  }
}
