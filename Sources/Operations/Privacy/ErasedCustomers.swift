// The customers that operators have erased, for programs that write to Kafka themselves: backfill and import. Workers have
// the marks in their ledgers.

package import AppStore
internal import KafkaClient
package import MillraceCore
package import MillraceRecords
internal import MillraceWorker

/// The erasures in `millrace.operations`.
package actor ErasedCustomers {
  /// The erasures that were ordered before a moment.
  package struct Marks: Sendable {
    fileprivate var times: [[UInt8]: Timestamp] = [:]
    fileprivate var rules = ErasureRules()

    /// No erasures.
    package init() {}

    /// Whether a record would recreate an erased customer.
    /// - Parameters:
    ///   - key: The record's key.
    ///   - signed: When Apple signed the notification; nil for a record that is none.
    package func include(_ key: [UInt8], signed: Timestamp?) -> Bool {
      !times.isEmpty && rules.refuse(key, signed: signed) { times[$0] }
    }

    /// When the customer with a key was erased last; nil if that never happened.
    package func time(of key: String) -> Timestamp? {
      rules.key.flatMap { times[$0.mark(of: Array(key.utf8))] }
    }
  }

  private let table: TopicTable<[[UInt8]: Timestamp]>
  private let log: any RecordLog
  private let rules: ErasureRules
  private var last: (marks: Marks, at: ContinuousClock.Instant)?

  /// - Throws: ``MillraceError`` if the secret cannot be read.
  package init(_ configuration: MillraceConfiguration, on log: any RecordLog) throws(MillraceError) {
    rules = try ErasureRules(configuration.privacy)
    self.log = log
    table = TopicTable(configuration.topics.prefix + "millrace.operations", in: log, [:]) { times, record in
      guard case .command(let command)? = OperationsRecord(record), let mark = command.erasedMark else { return }
      times[mark] = max(times[mark] ?? command.at, command.at)
    }
  }

  /// Returns the marks of all erasures until half a minute ago. Workers have their own marks, so nothing depends on the rest.
  /// - Throws: The errors of ``current()``.
  func recent() async throws -> Marks {
    if let last, last.at.duration(to: .now) < .seconds(30) { return last.marks }
    return try await current()
  }

  /// Returns the marks of all erasures until now.
  /// - Throws: ``MillraceError`` if the topic is missing, or if customers were erased and no secret is configured;
  ///   `KafkaError`.
  package func current() async throws -> Marks {
    let began = ContinuousClock.now
    let times = try await table.current()
    guard times.isEmpty || rules.key != nil else {
      throw MillraceError(
        .configuration, "customers were erased, and without the secret they cannot be recognised",
        at: "privacy.keyFile", remedy: "name the file with the secret of these erasures")
    }
    var marks = Marks()
    (marks.times, marks.rules) = (times, rules)
    last = (marks, began)
    return marks
  }
}
