import Testing

@testable import AppStoreSimulator

@Suite struct SigningBenchmarkTests {
  @Test func `the benchmark signs the requested number and samples ten times`() throws {
    var reported = 0
    let result = try SigningBenchmark.run(count: 50) { _ in reported += 1 }
    #expect(reported == 10)
    #expect(result.samples.last?.signed == 50)
    #expect((17_000...19_500).contains(result.bodySize))
    #expect(result.perSecond > 0)
  }
}
