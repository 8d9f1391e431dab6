import Testing

@testable import Ingress

@Suite struct QuarantineAllowanceTests {
  @Test func `a minute's allowance may be used at once, and no more`() {
    var allowance = QuarantineAllowance(perMinute: 3, at: .zero)
    let taken = (0..<5).map { _ in allowance.spend(at: .zero) }
    #expect(taken == [true, true, true, false, false])
  }

  @Test func `the allowance refills evenly, up to a minute's worth`() {
    var allowance = QuarantineAllowance(perMinute: 6, at: .zero)
    for _ in 0..<6 { _ = allowance.spend(at: .zero) }
    let afterTenSeconds = [allowance.spend(at: .seconds(10)), allowance.spend(at: .seconds(10))]
    #expect(afterTenSeconds == [true, false])
    let afterADay = (0..<7).map { _ in allowance.spend(at: .seconds(86_400)) }
    #expect(afterADay == [true, true, true, true, true, true, false])
  }

  @Test func `a clock that goes back refills nothing`() {
    var allowance = QuarantineAllowance(perMinute: 1, at: .seconds(100))
    let taken = [allowance.spend(at: .seconds(100)), allowance.spend(at: .zero), allowance.spend(at: .seconds(101))]
    #expect(taken == [true, false, false])
  }

  @Test(arguments: [0, -1]) func `an allowance of 0 or less copies nothing`(perMinute: Int) {
    var allowance = QuarantineAllowance(perMinute: perMinute, at: .zero)
    let taken = allowance.spend(at: .seconds(3600))
    #expect(!taken)
  }

  @Test func `a large body counts as several copies, at most as a minute's allowance`() {
    var allowance = QuarantineAllowance(perMinute: 10, at: .zero)
    // The bodies cost 1, 1, 2 and 7 of 10; a minute later 8 and 3 of 10; then one exceeds the whole allowance.
    let taken = [1, 32 << 10, (32 << 10) + 1, 200 << 10].map { allowance.spend(size: $0, at: .zero) }
    #expect(taken == [true, true, true, false])
    let later = [8 * 32 << 10, 3 * 32 << 10].map { allowance.spend(size: $0, at: .seconds(60)) }
    #expect(later == [true, false])
    let largest = [2 << 20, 1].map { allowance.spend(size: $0, at: .seconds(120)) }
    #expect(largest == [true, false])
  }
}
