// Observes events and dead letters as an outside reader while processes die.

import AppStore
import KafkaClient
import MillraceRecords
import ScenarioRig

struct CrashEvents: TopicView {
  /// The notifications with an event.
  private(set) var answered: Set<String> = []
  /// The notifications with a dead letter, of their own or of their timer.
  private(set) var dead: Set<String> = []
  /// The notifications whose timer has fired.
  private(set) var reminded: Set<String> = []
  /// The processes that have published an event.
  private(set) var processes: Set<Int> = []
  /// The number of events, including duplicates.
  private(set) var events = 0

  mutating func add(_ record: ConsumerRecord) {
    // Unreadable records are reported by the verdict.
    if case .event(let event) = Findings.Found(record) {
      if event.isTimers {
        reminded.insert(event.notification)
      } else {
        answered.insert(event.notification)
      }
      processes.insert(event.process)
      events += 1
    } else if DeadLetter(record.headers) != nil,
      let id = record.text("ce_id") ?? record.text("millrace-timer").flatMap({ Findings.notification(ofTimer: $0) })
    {
      dead.insert(id)
    }
  }
}
