import AppStore
import Testing

@testable import MillraceCore

@Suite struct HealthTests {
  @Test func `A report is healthy if every check is healthy`() {
    let good = HealthReport.Entry(name: "a", outcome: .healthy("fine"))
    let bad = HealthReport.Entry(name: "b", outcome: .unhealthy("gone", remedy: "restart"))
    #expect(HealthReport([]).isHealthy)
    #expect(HealthReport([good]).isHealthy)
    #expect(!HealthReport([good, bad]).isHealthy)
  }

  @Test func `The body of a report names each check and the remedy`() {
    let report = HealthReport([
      .init(name: "a", outcome: .healthy("fine")),
      .init(name: "b", outcome: .unhealthy("it \"broke\"", remedy: "mend it")),
    ])
    let expected =
      #"{"status":"not ready","checks":[{"name":"a","ok":true,"detail":"fine"},"#
      + #"{"name":"b","ok":false,"detail":"it \"broke\"","do":"mend it"}]}"# + "\n"
    #expect(String(decoding: report.json(good: "ready", bad: "not ready"), as: UTF8.self) == expected)
  }
}
