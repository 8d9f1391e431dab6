import AppStore
import AppStoreSigning
import KafkaClient
import Testing

@testable import MillraceWorker

@Suite struct PoisonDetectorTests {
  private let suspect = SourcePosition(topic: "a", offset: 7)

  private func watch(
    _ metadata: String, owner: UInt32, survivors: Set<UInt32> = [], patience: Int = 10
  ) -> PoisonDetector {
    PoisonDetector(metadata: ["a": metadata, "b": ""], owner: owner, survivors: survivors, patience: patience)
  }

  @Test func `two unclean starts cause one-at-a-time mode, and the third poisons a record that was running twice`() {
    var watch = watch(OffsetMark().text, owner: 1)
    #expect(!watch.isOneAtATime)
    for (owner, isOneAtATime) in [(2, false), (3, true)] as [(UInt32, Bool)] {
      watch = self.watch(watch.metadata(of: "a", inFlight: [7, 8, 9]), owner: owner)
      #expect(watch.isOneAtATime == isOneAtATime)
      #expect(watch.poisoned.isEmpty)
    }
    watch = self.watch(watch.metadata(of: "a", inFlight: [7]), owner: 4)
    #expect(watch.poisoned == [suspect])
    #expect(watch.isPoisoned(suspect))
    watch.settled(suspect)
    #expect(!watch.isPoisoned(suspect))
    #expect(watch.isOneAtATime, "there may be another poisoned record")
  }

  @Test func `a clean stop ends the suspicion`() {
    var watch = watch(PoisonMark(owner: 1, unclean: [8, 9], inFlight: [7]).metadata(), owner: 2)
    #expect(watch.uncleanStarts == 3)
    watch = self.watch(OffsetMark().text, owner: 3)
    #expect(watch.uncleanStarts == 0)
    #expect(watch.poisoned.isEmpty)
  }

  @Test func `an owner that lost the lane without a crash poisons no record`() {
    let metadata = PoisonMark(owner: 5, unclean: [3, 4], inFlight: [7], suspected: [7]).metadata()
    #expect(watch(metadata, owner: 6).poisoned == [suspect])
    // The lane still runs one record at a time, because a batch that failed may commit record by record.
    for survivors in [[5], [3], [3, 4, 5]] as [Set<UInt32>] {
      let watch = watch(metadata, owner: 6, survivors: survivors)
      #expect(watch.poisoned.isEmpty, "\(survivors)")
      #expect(watch.isOneAtATime, "\(survivors)")
      let mark = PoisonMark(watch.metadata(of: "a", inFlight: []))
      #expect(mark?.unclean == [3, 4, 5].filter { !survivors.contains($0) }, "\(survivors)")
      #expect(mark?.losses == survivors.count, "\(survivors)")
    }
  }

  @Test func `a poisoned record stays poisoned if its owner loses the lane before it settles`() {
    var watch = watch(PoisonMark(owner: 5, unclean: [3, 4], inFlight: [7], suspected: [7]).metadata(), owner: 6)
    let before = watch.metadata(of: "a", inFlight: [8])
    #expect(PoisonMark(watch.metadata(of: "b", inFlight: []))?.poisoned == [])
    watch.settled(suspect)
    let after = watch.metadata(of: "a", inFlight: [8])
    #expect(self.watch(before, owner: 7, survivors: [6]).poisoned == [suspect])
    #expect(self.watch(after, owner: 7, survivors: [6]).poisoned == [])
    #expect(self.watch(before, owner: 7, survivors: [3, 6]).poisoned == [], "two crashes must not poison a record")
  }

  @Test func `a timer that kills the process is poisoned until it is set for another time`() {
    let timer = LaneTimer(at: Timestamp(millisecondsSince1970: 5_000), key: [1], payload: [2])
    let mark = PoisonDetector.mark(of: NamedTimer("t", timer))
    var watch = watch(OffsetMark().text, owner: 1)
    for owner in 2...4 as ClosedRange<UInt32> {
      #expect(watch.poisonedTimers.isEmpty)
      // A timer belongs to no source, so the metadata of every source names it.
      let metadata = ["a", "b"].map { ($0, watch.metadata(of: $0, inFlight: [], timers: [mark])) }
      watch = PoisonDetector(metadata: Dictionary(uniqueKeysWithValues: metadata), owner: owner, patience: 10)
    }
    #expect(watch.isPoisoned(timer: mark))
    #expect(watch.poisoned.isEmpty)
    var moved = timer
    moved.at = Timestamp(millisecondsSince1970: 6_000)
    #expect(!watch.isPoisoned(timer: PoisonDetector.mark(of: NamedTimer("t", moved))))
    #expect(!watch.isPoisoned(timer: PoisonDetector.mark(of: NamedTimer("u", timer))))
    // The owner loses the lane before the timer settles.
    let lost = self.watch(watch.metadata(of: "a", inFlight: []), owner: 5, survivors: [4])
    #expect(lost.poisonedTimers == [mark])
    watch.settled(timer: mark)
    #expect(watch.poisonedTimers.isEmpty)
    #expect(PoisonMark(watch.metadata(of: "a", inFlight: []))?.poisonedTimers == [])
  }

  @Test func `a mark with an unknown owner is suspicious`() {
    let metadata = PoisonMark(owner: 5, unclean: [3], inFlight: []).metadata()
    #expect(!PoisonDetector.isSuspicious(["", "of another tool"], known: []))
    #expect(PoisonDetector.isSuspicious([metadata], known: [5]))
    #expect(!PoisonDetector.isSuspicious([metadata, ""], known: [3, 5]))
  }

  @Test func `enough records without a crash end the suspicion`() {
    var watch = watch(PoisonMark(owner: 1, unclean: [8, 9], inFlight: []).metadata(), owner: 2, patience: 3)
    for offset in 0..<3 as Range<Int64> {
      #expect(watch.isOneAtATime)
      watch.settled(SourcePosition(topic: "a", offset: offset))
    }
    #expect(!watch.isOneAtATime)
    #expect(PoisonMark(watch.metadata(of: "a", inFlight: []))?.unclean == [])
  }

  @Test(arguments: [
    "", "text of another tool", "1;1;1;1", "2;1;0;;;;;", "3;1;0;;;;;", "3;x;0;;;;;;;", "3;1;-1;;;;;;;",
    "3;1;0;-1;;;;;;", "3;1;0;;;;;;;1,x", "3;1;0;;-1;;;;;", "3;1;0;;;x;;;;", "3;1;0;;;;;;;1;1", "4;;", "4;7:8:9;a:1",
    "4;;1;0;;;;;;;", "5;;;1;0;;;;;;;",
  ])
  func `foreign metadata does not put a record under suspicion`(metadata: String) {
    #expect(PoisonMark(metadata) == nil)
    #expect(watch(metadata, owner: 1).uncleanStarts == 0)
  }

  @Test func `marks of the version before are read`() {
    let mark = PoisonMark(owner: 5, losses: 1, unclean: [3], timers: [8], inFlight: [7], suspected: [6])
    #expect(PoisonMark("3;5;1;3;;8;;;7;6") == mark)
    let offset = OffsetMark(
      last: RecordFingerprint(offset: .max, time: .max, digest: .max), ledger: LedgerMark(identity: .max, end: .max))
    #expect(PoisonMark(mark.metadata(after: offset)) == mark)
    #expect(OffsetMark(mark.metadata(after: offset)) == offset)
    #expect(OffsetMark("3;5;1;3;;8;;;7;6") == OffsetMark())
  }

  @Test func `a mark fits in the offset metadata and keeps the oldest offsets`() {
    let mark = PoisonMark(
      owner: .max, losses: .max, unclean: Array(repeating: .max, count: 100), poisoned: [.max, 3],
      inFlight: (0..<2_000).map { Int64.max - $0 })
    #expect(mark.metadata().utf8.count <= CommittedOffset.maximumMetadataBytes)
    let read = PoisonMark(mark.metadata())
    #expect(read?.inFlight.first == Int64.max - 1_999)
    #expect(read.map { $0.inFlight.count > 180 } == true)
    #expect(read?.unclean.count == PoisonMark.mostUnclean)
    #expect(read?.poisoned == [3, .max])
    let full = PoisonMark(owner: .max, unclean: [], poisoned: (0..<2_000).map { Int64.max - $0 }, inFlight: [1])
    #expect(full.metadata().utf8.count <= CommittedOffset.maximumMetadataBytes)
    #expect(PoisonMark(full.metadata()).map { $0.poisoned.count > 180 } == true)
    let timers = (0..<2_000 as Range<UInt64>).map { UInt64.max - $0 }
    let timed = PoisonMark(
      owner: .max, unclean: [], poisonedTimers: timers, timers: timers, poisoned: [], inFlight: mark.inFlight)
    #expect(timed.metadata().utf8.count <= CommittedOffset.maximumMetadataBytes)
    let half = PoisonMark(timed.metadata())
    #expect(half.map { $0.poisonedTimers.count > 80 && $0.inFlight.count > 80 } == true)
  }

  @Test func `a process that is killed again and again poisons no record that was running once`() {
    var watch = watch(OffsetMark().text, owner: 1)
    for owner in 2...40 as ClosedRange<UInt32> {
      watch = self.watch(watch.metadata(of: "a", inFlight: [Int64(owner)], timers: [UInt64(owner)]), owner: owner)
      #expect(watch.poisoned.isEmpty && watch.poisonedTimers.isEmpty)
    }
    // Once more with the record that was running at the last end.
    watch = self.watch(watch.metadata(of: "a", inFlight: [40], timers: [40]), owner: 41)
    #expect(watch.poisoned == [SourcePosition(topic: "a", offset: 40)] && watch.poisonedTimers == [40])
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func `a record that kills the process becomes a dead letter after three or four crashes, and no other does`(
    seed: UInt64
  ) {
    var lane = Lane(seed: seed, isPoisoned: true)
    lane.work()
    #expect(lane.committed == Lane.records, "seed \(seed)")
    #expect(lane.dead == [lane.poison], "seed \(seed)")
    // The mark of the second crash names the record only if a commit came between its start and the crash.
    #expect((3...4).contains(lane.crashes), "seed \(seed)")
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func `repeated losses of a lane without a crash poison no record`(seed: UInt64) {
    var lane = Lane(seed: seed, isPoisoned: false, losses: 40, toldAfter: 0...2)
    lane.work()
    #expect(lane.committed == Lane.records, "seed \(seed)")
    #expect(lane.dead == [], "seed \(seed)")
    #expect(lane.losses == 0, "seed \(seed): the lane was not lost often enough")
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func `losses of the lane do not change how many crashes poison a record`(seed: UInt64) {
    var lane = Lane(seed: seed, isPoisoned: true, losses: 40, toldAfter: 0...0)
    lane.work()
    #expect(lane.committed == Lane.records, "seed \(seed)")
    #expect(lane.dead == [lane.poison], "seed \(seed)")
    #expect((3...4).contains(lane.crashes), "seed \(seed)")
  }

  /// A loss counts as a crash until it is published. So fewer crashes can be enough, but never more are needed.
  @Test(arguments: 0..<300 as Range<UInt64>)
  func `a record that kills the process becomes a dead letter even if losses are published late`(seed: UInt64) {
    var lane = Lane(seed: seed, isPoisoned: true, losses: 40, toldAfter: 0...2)
    lane.work()
    #expect(lane.committed == Lane.records, "seed \(seed)")
    #expect(lane.dead.contains(lane.poison), "seed \(seed)")
    #expect((1...4).contains(lane.crashes), "seed \(seed): \(lane.crashes) crashes")
  }
}

/// A lane that runs 4 records at a time and passes from owner to owner until the last record is committed.
private struct Lane {
  static let records: Int64 = 40
  private static let patience = 12

  private(set) var committed: Int64 = 0
  private(set) var dead: [Int64] = []
  private(set) var crashes = 0
  /// The number of remaining losses of the lane without a crash.
  private(set) var losses: Int
  /// The offset of the record that kills its process, beyond the end if there is none.
  let poison: Int64

  /// The number of later owners before a loss is published.
  private let toldAfter: ClosedRange<UInt32>
  private var random: SeededGenerator
  private var metadata = ""
  /// Owners that lost the lane without a crash, with the first owner that knows it.
  private var notices: [UInt32: UInt32] = [:]

  init(seed: UInt64, isPoisoned: Bool, losses: Int = 0, toldAfter: ClosedRange<UInt32> = 0...0) {
    random = SeededGenerator(seed: seed)
    self.losses = losses
    self.toldAfter = toldAfter
    poison = isPoisoned ? Int64.random(in: 0..<Self.records, using: &random) : Self.records
  }

  /// Runs owners until one of them finishes all records.
  mutating func work() {
    for owner in 1..<200 as Range<UInt32> where !serve(as: owner) { return }
  }

  /// - Returns: Whether the owner crashed or lost the lane.
  private mutating func serve(as owner: UInt32) -> Bool {
    let survivors = Set(notices.filter { $0.value <= owner }.keys)
    var watch = PoisonDetector(
      metadata: ["a": metadata, "b": ""], owner: owner, survivors: survivors, patience: Self.patience)
    metadata = watch.metadata(of: "a", inFlight: [])
    while committed < Self.records || losses > 0 {
      let inFlight = Array(committed..<min(Self.records, committed + (watch.isOneAtATime ? 1 : 4)))
      // In one-at-a-time mode the record is named before it runs, otherwise only by commits.
      if watch.isOneAtATime || Bool.random(using: &random) { metadata = watch.metadata(of: "a", inFlight: inFlight) }
      if inFlight.isEmpty || isLost() {
        losses -= 1
        notices[owner] = owner + 1 + UInt32.random(in: toldAfter, using: &random)
        return true
      }
      for offset in inFlight {
        let position = SourcePosition(topic: "a", offset: offset)
        if watch.isPoisoned(position) {
          dead.append(offset)
        } else if offset == poison {
          crashes += 1
          return true
        }
        watch.settled(position)
        committed = offset + 1
      }
    }
    return false
  }

  private mutating func isLost() -> Bool { losses > 0 && Int.random(in: 0..<3, using: &random) > 0 }
}
