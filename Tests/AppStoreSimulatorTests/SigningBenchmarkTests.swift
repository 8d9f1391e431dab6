import Testing

@testable import AppStoreSimulator

@Suite struct SigningBenchmarkTests {
  @Test func `the benchmark signs the requested number and samples ten times`() throws {
    let result = try SigningBenchmark.run(count: 50)
    #expect(result.samples.map(\.signed) == Array(stride(from: 0, through: 50, by: 5)))
    #expect((17_000...19_500).contains(result.bodySize))
    #expect(result.perSecond > 0)
  }
}
