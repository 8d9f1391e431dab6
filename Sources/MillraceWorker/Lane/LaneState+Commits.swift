// The part of a lane's state machine that adds writes and takes part in commits.

internal import AppStore
internal import KafkaClient
internal import MillraceRecords

extension LaneState {
  /// Adds a write, and applies its entries to the ledger as not yet committed.
  mutating func submit(_ write: consuming LaneWrite) {
    for entry in write.entries { ledger.stage(entry) }
    uncommitted += 1
    uncommittedBytes += write.bytes
    actions.writes.append(write)
  }

  /// Adds the write of an operator's commands, which may set timers again. Most of these are due at once.
  mutating func submit(_ write: LaneWrite, settingAgain timers: [NamedTimer]) {
    var write = write
    for named in timers {
      let again = Outcome.Timer(name: named.name, at: named.timer.at, payload: named.timer.payload)
      write.entries += Ledger.entries(setting: [again], key: named.timer.key)
    }
    submit(write)
  }

  /// Commits the mark of a clean end with the offsets.
  mutating func markEnd(_ receipt: WriteReceipt) {
    isEndMarked = true
    submit(LaneWrite(lane: epoch, isUrgent: true, receipt: receipt))
  }

  /// Adds offsets and ledger records to writes; nil if the lane is over.
  /// - Parameter pageNumber: A random number for the id of a ledger page.
  func seal(_ writes: [LaneWrite], pageNumber: UInt32, now: Timestamp) -> LaneCommit? {
    guard phase < .stopped else { return nil }
    let timers = Array(runningTimers.values)
    let offsets = watermarks.offsets(finishing: writes.compactMap(\.finishes)).map { position in
      #if PLANTED_FAULTS
        var position = position
        if PlantedFault.unfinishedOffsets.isActive, let place = trails.place(of: position.topic) {
          position.offset = max(position.offset, (trails[place].newest?.offset ?? -1) + 1)
        }
      #endif
      let inFlight = running.filter { $0.topic == position.topic }.map(\.offset)
      let records = trails.place(of: position.topic).map { trails[$0].mark(before: position.offset) }
      let mark = OffsetMark(last: records?.last, anchor: records?.anchor, ledger: ledgerMark)
      return CommittedOffset(
        TopicPartition(topic: position.topic, partition: epoch.lane), offset: position.offset,
        metadata: isEndMarked
          ? mark.text : watch.metadata(of: position.topic, inFlight: inFlight, timers: timers, after: mark))
    }
    let paged = ledger.paged(LedgerEntry.withoutPassedCounts(writes.flatMap(\.entries)))
    var entries = paged.rest
    if let page = paged.page { entries.append(.page(LedgerPage.ID(at: now, pageNumber), page)) }
    let records = entries.map { $0.record(topic: rules.topics.ledger, lane: epoch.lane) }
    return LaneCommit(writes: writes, offsets: offsets, entries: entries, ledger: records)
  }

  private static let refusedOffsetsPause = Duration.seconds(1)

  /// Applies writes that were committed, and starts what may run now.
  mutating func committed(_ commit: LaneCommit, now: Timestamp) {
    // By place, because a loop over the writes copies each of them.
    for place in commit.writes.indices {
      if let timer = commit.writes[place].fires { watch.settled(timer: timer) }
      if let position = commit.writes[place].finishes {
        watermarks.finish(position)
        watch.settled(position)
      }
      uncommitted -= 1
      uncommittedBytes -= commit.writes[place].bytes
      ledger.unstage(commit.writes[place].entries)
    }
    for entry in commit.entries { ledger.restore(entry) }
    if commit.entries.contains(where: { $0.name.kind == .timer && $0.value != nil }) { actions.isTimeNews = true }
    for offset in commit.offsets {
      committed[committed.place(of: offset.partition.topic, default: 0)] = offset.offset
      if let place = trails.place(of: offset.partition.topic) { trails[place].committed(offset.offset) }
    }
    offsetsDue = nil
    if commit.offsets.isEmpty {
      // The group refuses offsets for as long as it rebalances. No later write may come to commit them.
      offsetsDue = now + Self.refusedOffsetsPause
      actions.isTimeNews = true
    } else if uncommitted == 0, watermarks.offsets.map(\.offset) != commit.offsets.map(\.offset) {
      // A source was read to its end after the offsets were sealed, and no later write may come to commit its end.
      submit(LaneWrite(lane: epoch))
    }
    keys.isOneAtATime = watch.isOneAtATime
    ages.finish(watermarks.offsets)
    rules.metrics.inFlight(keys.count + uncommitted, lane: epoch.lane)
    rules.metrics.ledger(ledger.count, failingTimers: ledger.timers.failingCount, lane: epoch.lane)
    madeRoom()
    dispatch(now: now)
  }
}
