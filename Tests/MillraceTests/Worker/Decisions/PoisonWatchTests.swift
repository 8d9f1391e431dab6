import AppStoreSigning
import Kafka
import Testing

@testable import Millrace

@Suite struct PoisonWatchTests {
  private let suspect = SourcePosition(topic: "a", offset: 7)

  private func watch(_ metadata: String, owner: UInt32, patience: Int = 10) -> PoisonWatch {
    PoisonWatch(metadata: ["a": metadata, "b": ""], owner: owner, patience: patience)
  }

  @Test func `two unclean starts: one at a time; at the third, what was in flight is condemned`() {
    var watch = watch(PoisonWatch.cleanMetadata, owner: 1)
    #expect(!watch.isOneAtATime)
    for (owner, isOneAtATime) in [(2, false), (3, true)] as [(UInt32, Bool)] {
      watch = self.watch(watch.metadata(inFlight: [7, 8, 9]), owner: owner)
      #expect(watch.isOneAtATime == isOneAtATime)
      #expect(watch.condemned.isEmpty)
    }
    watch = self.watch(watch.metadata(inFlight: [7]), owner: 4)
    #expect(watch.condemned == [suspect])
    #expect(watch.isCondemned(suspect))
    watch.settled(suspect)
    #expect(!watch.isCondemned(suspect))
    #expect(watch.isOneAtATime, "there may be another")
  }

  @Test func `an end in order forgets everything`() {
    var watch = watch(PoisonMark(owner: 1, uncleanStarts: 2, inFlight: [7]).metadata, owner: 2)
    #expect(watch.uncleanStarts == 3)
    watch = self.watch(PoisonWatch.cleanMetadata, owner: 3)
    #expect(watch.uncleanStarts == 0)
    #expect(watch.condemned.isEmpty)
  }

  @Test func `a lane that comes back to the process that lost it was not left by a crash`() {
    let watch = watch(PoisonMark(owner: 5, uncleanStarts: 3, inFlight: [7]).metadata, owner: 5)
    #expect(watch.uncleanStarts == 3)
    #expect(watch.condemned.isEmpty)
  }

  @Test func `enough records without a crash end the suspicion`() {
    var watch = watch(PoisonMark(owner: 1, uncleanStarts: 2, inFlight: []).metadata, owner: 2, patience: 3)
    for offset in 0..<3 as Range<Int64> {
      #expect(watch.isOneAtATime)
      watch.settled(SourcePosition(topic: "a", offset: offset))
    }
    #expect(!watch.isOneAtATime)
    #expect(PoisonMark(watch.metadata(inFlight: []))?.uncleanStarts == 0)
  }

  @Test(arguments: ["", "text of another tool", "2;1;1;1", "1;1;1", "1;x;1;", "1;1;-1;", "1;1;1;1,x", "1;1;1;1;1"])
  func `metadata of others is no reason to distrust a record`(metadata: String) {
    #expect(PoisonMark(metadata) == nil)
    #expect(watch(metadata, owner: 1).uncleanStarts == 0)
  }

  @Test func `a mark fits beside an offset, the oldest offsets first`() {
    let mark = PoisonMark(owner: .max, uncleanStarts: .max, inFlight: (0..<2_000).map { Int64.max - $0 })
    #expect(mark.metadata.utf8.count <= CommittedOffset.maximumMetadataBytes)
    let read = PoisonMark(mark.metadata)
    #expect(read?.inFlight.first == Int64.max - 1_999)
    #expect(read.map { $0.inFlight.count > 190 } == true)
    #expect(read?.uncleanStarts == .max)
    #expect(watch(mark.metadata, owner: 1).uncleanStarts == .max)
  }

  /// Records run 4 at a time; one of them kills the process. However the crashes fall, it dies and nobody else does.
  @Test(arguments: 0..<300 as Range<UInt64>)
  func `a record that kills the process becomes a dead letter after three crashes, and no other does`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let poison = Int64.random(in: 0..<40, using: &random)
    var committed: Int64 = 0
    var metadata = ""
    var crashes = 0
    var dead: [Int64] = []
    for owner in 1..<20 as Range<UInt32> {
      var watch = watch(metadata, owner: owner, patience: 12)
      metadata = watch.metadata(inFlight: [])
      var didCrash = false
      while committed < 40, !didCrash {
        let inFlight = Array(committed..<min(40, committed + (watch.isOneAtATime ? 1 : 4)))
        // Named before it runs where it has to be; else what the last commit happened to see.
        if watch.isOneAtATime || Bool.random(using: &random) { metadata = watch.metadata(inFlight: inFlight) }
        for offset in inFlight {
          let position = SourcePosition(topic: "a", offset: offset)
          if watch.isCondemned(position) {
            dead.append(offset)
          } else if offset == poison {
            didCrash = true
            crashes += 1
            break
          }
          watch.settled(position)
          committed = offset + 1
        }
      }
      guard didCrash else { break }
    }
    #expect(committed == 40, "seed \(seed)")
    #expect(dead == [poison], "seed \(seed)")
    #expect(crashes == 3, "seed \(seed)")
  }
}
