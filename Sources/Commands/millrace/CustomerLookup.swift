// Finds a customer for a command, with the state of each subscription and purchase.

import AppStore
import MillraceCore
import MillraceRecords
import MillraceTime
import Operations

struct CustomerLookup {
  let log: KafkaLog
  /// One state for each key; one without a row if nothing names the id.
  let states: [CustomerState]

  /// - Throws: The errors of `CustomerSearch.id(_:)` and `CustomerSearch.find(_:)`.
  init(_ given: String, _ configuration: MillraceConfiguration, _ console: Console) async throws {
    let id = try CustomerSearch.id(given)
    log = try await configuration.connect(console)
    let clock = MillraceClock(configuration.clock)
    let apple = CustomerSearch.asking(configuration, clock: clock) { console.err.note($0) }
    let search = CustomerSearch(
      in: log, prefix: configuration.topics.prefix, apple: apple, note: { console.noteOnce($0) })
    let customer = try await search.find(id) ?? CustomerSearch.Customer(keys: [id], finding: .absent)
    if let relation = customer.relation {
      console.err.note("The \(relation) belongs to \(customer.keys.joined(separator: ", ")).")
    }
    let marks = try await Self.marks(configuration, log, console)
    // A row does not have what the ingress refused, such as a refund.
    let quarantined = try await search.quarantined(claiming: customer.keys)
    var states: [CustomerState] = []
    for key in customer.keys {
      states.append(
        CustomerState(
          key: key, row: try await search.row(of: key), erasedAt: marks.time(of: key), finding: customer.finding,
          quarantined: quarantined.filter { $0.names(key) }))
    }
    self.states = states
  }

  private static func marks(
    _ configuration: MillraceConfiguration, _ log: KafkaLog, _ console: Console
  ) async throws -> ErasedCustomers.Marks {
    do {
      return try await ErasedCustomers(configuration, on: log).current()
    } catch let error as MillraceError {
      // Without the secret, erased customers cannot be told from unknown ones.
      console.err.note("\(error)")
      return ErasedCustomers.Marks()
    }
  }
}
