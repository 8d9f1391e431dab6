// What a reader outside sees while processes die: events and dead letters as they become visible.

import AppStore
import Kafka
import Millrace
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

  /// Notifications that have an event.
  var answered: Set<String> { state.withLock { $0.answered } }
  /// Notifications that have a dead letter, or whose timer has.
  var dead: Set<String> { state.withLock { $0.dead } }
  /// Notifications whose timer has fired.
  var reminded: Set<String> { state.withLock { $0.reminded } }
  /// Events, repeated ones included.
  var events: Int { state.withLock { $0.events } }

  /// Whether a process has published something.
  func hasSeen(_ process: Int32) -> Bool { state.withLock { $0.processes.contains(Int(process)) } }

  /// Takes in what was read.
  func take(_ records: [ConsumerRecord]) {
    state.withLock { state in
      for record in records {
        // What cannot be read is a finding of the verdict; here nothing waits for it.
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
