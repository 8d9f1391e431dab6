import Millrace
import Testing

@testable import Ingress

@Suite struct QuarantineAllowanceTests {
  @Test func `a minute's worth may come at once, and no more`() {
    var allowance = QuarantineAllowance(perMinute: 3, at: .zero)
    let taken = (0..<5).map { _ in allowance.take(at: .zero) }
    #expect(taken == [true, true, true, false, false])
  }

  @Test func `it fills evenly and never beyond a minute's worth`() {
    var allowance = QuarantineAllowance(perMinute: 6, at: .zero)
    for _ in 0..<6 { _ = allowance.take(at: .zero) }
    let afterTenSeconds = [allowance.take(at: .seconds(10)), allowance.take(at: .seconds(10))]
    #expect(afterTenSeconds == [true, false])
    let afterADay = (0..<7).map { _ in allowance.take(at: .seconds(86_400)) }
    #expect(afterADay == [true, true, true, true, true, true, false])
  }

  @Test func `time that goes back gives nothing`() {
    var allowance = QuarantineAllowance(perMinute: 1, at: .seconds(100))
    let taken = [allowance.take(at: .seconds(100)), allowance.take(at: .zero), allowance.take(at: .seconds(101))]
    #expect(taken == [true, false, false])
  }

  @Test(arguments: [0, -1]) func `nothing is kept where nothing is allowed`(perMinute: Int) {
    var allowance = QuarantineAllowance(perMinute: perMinute, at: .zero)
    let taken = allowance.take(at: .seconds(3600))
    #expect(!taken)
  }
}

@Suite struct QuarantineAllowancesTests {
  @Test func `bodies that anybody can make take nothing from those that are genuine outside`() {
    var allowances = QuarantineAllowances(perMinute: 2, at: .zero)
    let forged = (0..<5).map { _ in allowances.take(for: .chain, at: .zero) }
    #expect(forged == [true, true, false, false, false])
    let genuine = [Refusal.Reason.appNotConfigured, .innerForged, .innerMismatch].map {
      allowances.take(for: $0, at: .zero)
    }
    #expect(genuine == [true, true, false])
  }
}
