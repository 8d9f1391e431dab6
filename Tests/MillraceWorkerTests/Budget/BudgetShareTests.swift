import AppStoreSigning
import Testing

@testable import MillraceWorker

@Suite struct BudgetShareTests {
  @Test func `the share of the budget is the share of the lanes`() {
    var share = BudgetShare(lanes: 4)
    #expect(share.part == 0)
    for lane in 0..<4 as Range<Int32> { share.add(lane) }
    #expect(share.part == 1)
    share.add(3)
    #expect(share.part == 1)
    share.remove(0)
    #expect(share.part == 0.75)
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func `the parts of all processes never exceed the whole budget`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let lanes = Int32.random(in: 1...20, using: &random)
    var shares = [BudgetShare](repeating: BudgetShare(lanes: Int(lanes)), count: 3)
    var owners: [Int32: Int] = [:]
    for _ in 0..<200 {
      let lane = Int32.random(in: 0..<lanes, using: &random)
      // The next owner adds a lane only after the previous owner has removed it.
      if let owner = owners.removeValue(forKey: lane) {
        shares[owner].remove(lane)
      } else {
        owners[lane] = Int.random(in: 0..<3, using: &random)
        shares[owners[lane] ?? 0].add(lane)
      }
      #expect(shares.reduce(0) { $0 + $1.part } <= 1.000_000_1, "seed \(seed)")
    }
  }
}
