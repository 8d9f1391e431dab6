import Testing

@testable import MillraceCore

@Suite struct ProcessMetricsTests {
  private static let stat =
    "7 (a b) (c) S 1 7 7 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 9 0 12345 1000000 2048 18446744073709551615 1 1"

  @Test func `The fields are found after any process name`() throws {
    let stat = try #require(ProcessMetrics.Stat(Self.stat))
    #expect(stat.cpuTicks == 300)
    #expect(stat.threads == 9)
    #expect(stat.residentPages == 2_048)
  }

  @Test(arguments: ["", "7 (a) S 1", "7 a S 1 2 3", "7 (a) " + String(repeating: "x ", count: 40)])
  func `Any other text is not parsed`(text: String) {
    #expect(ProcessMetrics.Stat(text) == nil)
  }

  #if os(Linux)
    @Test func `The metrics of this process are exported`() {
      let registry = PrometheusRegistry()
      for collector in ProcessMetrics.collectors { registry.add(collector) }
      let text = registry.render()
      for name in ["process_cpu_seconds_total", "process_resident_memory_bytes", "process_threads", "process_open_fds"]
      {
        #expect(text.contains("\n\(name) "), "\(name)")
      }
    }
  #endif
}
