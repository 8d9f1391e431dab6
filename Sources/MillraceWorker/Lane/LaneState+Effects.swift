// The part of a lane's state machine that serves running handlers, with effects and waits, and that erases customers.

internal import AppStore
internal import KafkaClient
internal import MillraceRecords

// MARK: - Effects and waits of a run

extension LaneState {
  /// Begins an effect of a run, and writes its intent if there is none yet.
  /// - Parameter receipt: Settled when the intent is written.
  mutating func beginEffect(
    _ name: String, body: [UInt8], of number: UInt64, receipt: WriteReceipt, now: Timestamp
  ) -> Ledger.EffectStep {
    let step = ledger.beginEffect(name, body: body, key: keys.key(of: number) ?? [], now: now)
    if case .write(let entry) = step {
      submit(LaneWrite(lane: epoch, entries: [entry], isUrgent: true, receipt: receipt))
    }
    return step
  }

  /// Records the result of an effect. It is committed with the handler's outcome or earlier.
  mutating func endEffect(_ name: String, result: [UInt8]) {
    if let entry = ledger.endEffect(name, result: result) { submit(LaneWrite(lane: epoch, entries: [entry])) }
  }

  /// Withdraws an intent. The change is committed with the handler's outcome or earlier. Until then the effect counts
  /// as one with an unknown result.
  mutating func withdrawEffect(_ name: String) {
    if let entry = ledger.withdrawEffect(name) { submit(LaneWrite(lane: epoch, entries: [entry])) }
  }

  /// Lets a run wait for a rate-limit slot, and others run meanwhile.
  /// - Parameter isFirst: Whether no other call of the run waits already.
  /// - Returns: False if the lane drains or too many records of the app already wait. The record then has to leave.
  mutating func beginWaiting(_ number: UInt64, isFirst: Bool, now: Timestamp) -> Bool {
    guard isRunning else { return false }
    if isFirst {
      guard keys.wait(number) else { return false }
      dispatch(now: now)
    }
    waits += 1
    return true
  }

  /// Ends the wait of a call.
  /// - Parameter number: The run whose last waiting call this was. Nil if another call waits or the run is over.
  mutating func endWaiting(of number: UInt64?) {
    waits -= 1
    if let number { keys.resume(number) }
  }
}

// MARK: - Erasure

extension LaneState {
  /// Whether a record would bring an erased customer back.
  func isErased(_ item: LaneItem) -> Bool {
    guard ledger.hasErasures, !item.announcesErasure else { return false }
    let isNotification = item.envelope.version != .found && item.envelope.version != .request
    return rules.erasure.refuse(item.key, signed: isNotification ? item.envelope.time : nil) { mark in
      ledger.erasure(LedgerKey(prefixOf: mark))?.at
    }
  }

  /// Finishes a record of an erased customer without an outcome.
  mutating func drop(_ job: LaneJob, _ item: LaneItem) {
    var write = LaneWrite(
      lane: epoch, finishes: item.position, entries: ledger.entries(counting: .skipped, of: item))
    // Later records of the key may wait for this one. A record that only claims an id must not block the genuine one.
    if case .delayed? = ledger[item.ledgerID]?.state {
      write.entries += ledger.entries(
        resolving: item, as: Handled(.done(digest: OutcomeDigest().value), at: item.firstWritten), isStrict: isStrict)
    }
    rules.metrics.skipped(LedgerVerdict.Skip.erased.rawValue, type: item.typeLabel)
    decided(job)
    submit(write)
  }

  /// Whether a run no longer counts, because its customer was erased.
  func isWithdrawn(_ number: UInt64) -> Bool { withdrawn.contains(number) }

  /// Begins to look for everything that the lane has about customers.
  mutating func searchErased(_ customers: [ErasedCustomer]) -> ErasureSearch {
    ledger.searchErased(customers.map(\.key))
  }

  /// Erases everything that the lane has about customers, and leaves marks. Each customer is one write. Writes nothing
  /// about a customer if it has done so before.
  ///
  /// - Parameters:
  ///   - found: The result of the search that ``searchErased(_:)`` began.
  ///   - receipt: Settled when everything is written.
  mutating func erase(_ customers: [ErasedCustomer], found: Set<LedgerEntry.Name>, receipt: WriteReceipt) {
    let entries = ledger.entries(erasing: customers.map(\.key), found: found)
    for customer in customers {
      // A command that is repeated after a failure must not erase what has arrived since.
      if let known = ledger.erasure(customer.mark), known.at >= customer.erasure.at { continue }
      if let run = keys.running(of: customer.key) { withdrawn.insert(run) }
      let own = entries[customer.key] ?? []
      let states = own.filter { $0.name.kind == .state }.map(\.name.text)
      submit(
        LaneWrite(
          lane: epoch, records: customer.records(states), entries: own + [.erasure(customer.mark, customer.erasure)]))
    }
    submit(LaneWrite(lane: epoch, isUrgent: true, receipt: receipt))
  }
}

/// A customer whom an operator erases.
struct ErasedCustomer: Sendable {
  /// The record key.
  var key: [UInt8]
  var mark: LedgerKey
  var erasure: Erasure
  /// Returns the records to write with the erasure, from the names of the erased states.
  var records: @Sendable ([String]) -> [ProducerRecord]
}
