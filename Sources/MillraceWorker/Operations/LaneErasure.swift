// Erases a customer from the lane that owns the customer's key. What the lane keeps, the rows that it published and the mark
// are one write, so a lane that dies has done all of it or nothing.

package import AppStore
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords
internal import MillraceTime

/// How a worker erases customers.
package struct ErasureRules: Sendable {
  /// Nil if no secret is configured. The worker then refuses to erase customers.
  package var key: ErasureKey?
  /// Whether notifications about an erased customer are handled that Apple signed after the erasure.
  package var acceptsNewNotifications = true

  package init() {}

  /// - Throws: ``MillraceError`` if the secret cannot be read.
  package init(_ settings: PrivacySettings) throws(MillraceError) {
    key = try ErasureKey(settings)
    acceptsNewNotifications = settings.acceptsNewNotifications
  }

  /// Whether a record would bring an erased customer back.
  /// - Parameters:
  ///   - key: The record's key.
  ///   - signed: When Apple signed the notification; nil for a record that is none. Apple signs answers to questions
  ///     always later.
  ///   - erasure: Returns when the customer with a mark was erased, or nil if that never happened.
  package func refuse(_ key: [UInt8], signed: Timestamp?, _ erasure: ([UInt8]) -> Timestamp?) -> Bool {
    guard let secret = self.key, let erased = erasure(secret.mark(of: key)) else { return false }
    guard acceptsNewNotifications, let signed else { return true }
    return signed <= erased
  }

  /// Checks that this secret computed the marks in a ledger.
  /// - Throws: ``MillraceError`` if not: the worker would recreate erased customers.
  func check(_ ledger: Ledger, lane: Int32) throws(MillraceError) {
    let others = ledger.erasureFingerprints.subtracting([key?.fingerprint].compactMap(\.self))
    guard !others.isEmpty else { return }
    throw MillraceError(
      .configuration,
      key == nil
        ? "customers were erased in lane \(lane), and without the secret the worker cannot recognise them"
        : "customers were erased in lane \(lane) with another secret",
      at: "privacy.keyFile", remedy: "name the file with the secret of these erasures")
  }
}

extension LaneCommands {
  /// Executes commands to erase customers. They may be repeated.
  func erase(_ commands: [(OperationCommand, customer: String)]) async throws -> [CarriedOut] {
    guard let secret = lane.parts.erasure.key else {
      return commands.map { CarriedOut($0.0, .failed("the worker has no secret: set privacy.keyFile and restart it")) }
    }
    var steps: [CarriedOut] = []
    var opened: [(command: OperationCommand, key: [UInt8])] = []
    for (command, customer) in commands {
      if let key = secret.open(customer) {
        opened.append((command, key))
      } else {
        steps.append(
          CarriedOut(command, .failed("the command was encrypted with another secret than the worker's")))
      }
    }
    guard !opened.isEmpty else { return steps }
    let customers = opened.map { command, key in
      ErasedCustomer(
        key: key, mark: LedgerKey(prefixOf: secret.mark(of: key)),
        erasure: Erasure(at: command.at, fingerprint: secret.fingerprint), records: erasedRecords(of: key, for: command)
      )
    }
    guard await lane.erase(customers) != .dropped else { throw CancellationError() }
    try await discard(try await deadLetters(of: Set(opened.map(\.key))), of: opened)
    return steps + opened.map { CarriedOut($0.command, .done) }
  }

  /// Returns the records that tell readers: an event, and a record without a value for each row.
  private func erasedRecords(
    of key: [UInt8], for command: OperationCommand
  ) -> @Sendable ([String]) -> [ProducerRecord] {
    let (topics, records) = (lane.parts.topics, lane.parts.planner.records)
    let now = lane.parts.clock.wallTime
    return { states in
      let customer = String(decoding: key, as: UTF8.self)
      // A row has the key of its state, or what follows the state's last slash.
      let rows = Set(states.map { String($0.split(separator: "/").last ?? "") } + [customer]).sorted()
      let tombstones = topics.outputTopics.filter { !topics.inputs.contains($0) }.flatMap { topic in
        rows.map { ProducerRecord(topic: topic, key: Array($0.utf8), value: nil) }
      }
      let event = EncodedEvent(
        name: ErasureEvent.name, data: (["erasedAt": .string(command.at.rfc3339)] as JSONObject).serialized())
      let cause = OutcomeRecords.Cause(
        id: "erasure/\(command.id)", key: customer, traceParent: nil, revision: nil)
      return tombstones + [records.event(event, ordinal: 0, of: cause, at: now)]
    }
  }

  /// Returns the offsets of customers' dead letters, by key.
  private func deadLetters(of keys: Set<[UInt8]>) async throws -> [[UInt8]: [Int64]] {
    let letters = TopicPartition(topic: lane.parts.topics.deadLetters, partition: lane.epoch.lane)
    return try await lane.parts.log.fold(letters, into: [:]) { found, page in
      for letter in page {
        if let key = letter.key, keys.contains(key) { found[key, default: []].append(letter.offset) }
      }
    }
  }

  /// Discards customers' dead letters. A retry would set a timer of the customer again, so a retry that waits fails. Another
  /// retry may come before the discard in the log and win, so the log is read again until no retry has won.
  private func discard(
    _ letters: [[UInt8]: [Int64]], of customers: [(command: OperationCommand, key: [UInt8])]
  ) async throws {
    while true {
      try await consumer.readToEnd()
      var steps: [CarriedOut] = []
      for (command, key) in customers {
        for offset in letters[key] ?? [] { steps += await discard(offset, for: command) }
      }
      guard !steps.isEmpty else { return }
      try await conclude(steps)
    }
  }

  /// Returns the steps that discard a dead letter; none if it is settled.
  private func discard(_ offset: Int64, for command: OperationCommand) async -> [CarriedOut] {
    let item = OperationCommand.deadLetter(lane: lane.epoch.lane, offset: offset)
    let open = await consumer.openCommand(for: item)
    // Also one of this erasure: without transactions, a lane can end between a command and its result.
    if let open, open.action == .discard { return [CarriedOut(open, .done)] }
    let isFree = await consumer.isFree(item)
    guard open != nil || isFree else { return [] }
    let discard = OperationCommand(
      id: "\(command.id)/\(offset)", run: command.run, item: item, worker: command.worker, lane: command.lane,
      action: .discard, why: "the customer was erased", by: command.by, at: command.at)
    let record = OperationsRecord.command(discard).producerRecord(lane.parts.topics.operations)
    return [open.map { CarriedOut($0, .failed(discard.why)) }, CarriedOut(discard, .done, records: [record])]
      .compactMap(\.self)
  }
}
