import CoreMetrics
import Testing

@testable import MillraceCore

@Suite struct PrometheusRegistryTests {
  private static func lines(_ registry: PrometheusRegistry, _ name: String) -> [String] {
    registry.render().split(separator: "\n").map(String.init).filter { $0.contains(name) }
  }

  @Test func `A counter has one sorted line for each combination of labels`() {
    let registry = PrometheusRegistry()
    registry.describe("answers_total", "Answers given.")
    registry.makeCounter(label: "answers", dimensions: [("status", "503"), ("api", "v1")]).increment(by: 2)
    registry.makeCounter(label: "answers", dimensions: [("api", "v1"), ("status", "200")]).increment(by: 1)
    registry.makeCounter(label: "answers", dimensions: [("status", "200"), ("api", "v1")]).increment(by: 1)
    #expect(
      Self.lines(registry, "answers") == [
        "# HELP answers_total Answers given.", "# TYPE answers_total counter",
        #"answers_total{api="v1",status="200"} 2"#, #"answers_total{api="v1",status="503"} 2"#,
      ])
  }

  @Test func `Help and label values are escaped`() {
    let registry = PrometheusRegistry()
    registry.describe("a_total", "one\\two\n\"three\"")
    registry.makeCounter(label: "a", dimensions: [("l", "x\\y\n\"z\"")]).increment(by: 1)
    #expect(
      Self.lines(registry, "a_total") == [
        #"# HELP a_total one\\two\n"three""#, "# TYPE a_total counter", #"a_total{l="x\\y\n\"z\""} 1"#,
      ])
  }

  @Test func `Names are changed to valid Prometheus names`() {
    let registry = PrometheusRegistry()
    registry.makeMeter(label: "http.server-requests", dimensions: [("le", "1"), ("a-b", "2"), ("9", "3")]).set(Int64(7))
    #expect(Self.lines(registry, "http")[1] == #"http_server_requests{_9="3",a_b="2",le_="1"} 7"#)
  }

  @Test func `A label that is given twice is written once`() {
    let registry = PrometheusRegistry()
    registry.makeCounter(label: "a", dimensions: [("x", "1"), ("x", "2")]).increment(by: 1)
    #expect(Self.lines(registry, "a_total{") == [#"a_total{x="1"} 1"#])
  }

  @Test func `A timer is a histogram of seconds, cumulative, with +Inf, sum and count`() {
    let registry = PrometheusRegistry()
    registry.describe("wait_seconds", "Waiting.", buckets: [1, 0.1, .infinity])
    let timer = registry.makeTimer(label: "wait", dimensions: [("k", "v")])
    for nanoseconds: Int64 in [50_000_000, 100_000_000, 500_000_000, 5_000_000_000] {
      timer.recordNanoseconds(nanoseconds)
    }
    #expect(
      Self.lines(registry, "wait_seconds") == [
        "# HELP wait_seconds Waiting.", "# TYPE wait_seconds histogram",
        #"wait_seconds_bucket{k="v",le="0.1"} 2"#, #"wait_seconds_bucket{k="v",le="1"} 3"#,
        #"wait_seconds_bucket{k="v",le="+Inf"} 4"#, #"wait_seconds_sum{k="v"} 5.65"#, #"wait_seconds_count{k="v"} 4"#,
      ])
  }

  @Test func `Recorders are histograms or gauges, and meters and fractional counters add up`() {
    let registry = PrometheusRegistry()
    registry.makeRecorder(label: "size", dimensions: [], aggregate: true).record(Int64(3))
    registry.makeRecorder(label: "depth", dimensions: [], aggregate: false).record(2.5)
    let meter = registry.makeMeter(label: "level", dimensions: [])
    meter.set(2.0)
    meter.increment(by: 1.5)
    meter.decrement(by: 0.5)
    registry.makeFloatingPointCounter(label: "spent", dimensions: []).increment(by: 0.25)
    #expect(Self.lines(registry, "size_count") == ["size_count 1"])
    #expect(Self.lines(registry, "depth").last == "depth 2.5")
    #expect(Self.lines(registry, "level").last == "level 3")
    #expect(Self.lines(registry, "spent").last == "spent_total 0.25")
  }

  @Test func `A name keeps its first kind, and metrics with another kind are dropped and counted`() {
    let registry = PrometheusRegistry()
    registry.makeMeter(label: "a_total", dimensions: []).set(1.0)
    registry.makeCounter(label: "a", dimensions: []).increment(by: 5)
    #expect(Self.lines(registry, "a_total") == ["# TYPE a_total gauge", "a_total 1"])
    #expect(Self.lines(registry, "conflicts").last == "millrace_metrics_conflicts_total 1")
  }

  @Test func `Integer and floating-point counters are not mixed in one series`() {
    let registry = PrometheusRegistry()
    registry.makeCounter(label: "a", dimensions: []).increment(by: 1)
    registry.makeFloatingPointCounter(label: "a", dimensions: []).increment(by: 0.5)
    #expect(Self.lines(registry, "a_total").last == "a_total 1")
    #expect(Self.lines(registry, "conflicts").last == "millrace_metrics_conflicts_total 1")
  }

  @Test func `The number of series is bounded, and further ones share one series`() {
    let registry = PrometheusRegistry(seriesLimit: 3)
    for index in 0..<100 {
      registry.makeCounter(label: "a", dimensions: [("user", "\(index)")]).increment(by: 1)
    }
    let lines = Self.lines(registry, "a_total{")
    #expect(lines.count == 4)
    #expect(lines.last == #"a_total{user="other"} 97"#)
  }

  @Test func `A series outlives its handler`() {
    let registry = PrometheusRegistry()
    let counter = registry.makeCounter(label: "a", dimensions: [])
    counter.increment(by: 3)
    registry.destroyCounter(counter)
    registry.makeCounter(label: "a", dimensions: []).increment(by: 4)
    #expect(Self.lines(registry, "a_total").last == "a_total 7")
  }

  @Test func `Collectors run at each rendering`() {
    let registry = PrometheusRegistry()
    registry.add(
      MetricCollector("queue.depth", .gauge, help: "Records waiting.") {
        [.init(2, labels: [("topic", "b")]), .init(1.5, labels: [("topic", "a")])]
      })
    #expect(
      Self.lines(registry, "queue_depth") == [
        "# HELP queue_depth Records waiting.", "# TYPE queue_depth gauge", #"queue_depth{topic="a"} 1.5"#,
        #"queue_depth{topic="b"} 2"#,
      ])
  }

  @Test func `Every metric has one TYPE, before its samples, and the text ends with a newline`() {
    let registry = PrometheusRegistry()
    for name in ["b", "a", "c"] {
      registry.makeCounter(label: name, dimensions: [("x", "1")]).increment(by: 1)
      registry.makeTimer(label: name, dimensions: []).recordNanoseconds(1)
    }
    var seen: Set<Substring> = []
    var current: Substring = ""
    for line in registry.render().split(separator: "\n") where !line.hasPrefix("# HELP") {
      if line.hasPrefix("# TYPE ") {
        current = line.split(separator: " ")[2]
        #expect(seen.insert(current).inserted)
      } else {
        #expect(line.hasPrefix(current))
      }
    }
    #expect(seen.count == 7)
    #expect(registry.render().hasSuffix("\n"))
    #expect(registry.render() == registry.render())
  }

  @Test func `Counting from many tasks loses nothing`() async {
    let registry = PrometheusRegistry()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<1_000 {
            registry.makeCounter(label: "a", dimensions: []).increment(by: 1)
            registry.makeMeter(label: "m", dimensions: []).increment(by: 0.5)
            registry.makeTimer(label: "t", dimensions: []).recordNanoseconds(1)
          }
        }
      }
    }
    #expect(Self.lines(registry, "a_total").last == "a_total 8000")
    #expect(Self.lines(registry, "m").contains("m 4000"))
    #expect(Self.lines(registry, "t_seconds_count") == ["t_seconds_count 8000"])
  }

  @Test(arguments: [
    (Double.nan, "NaN"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (1e300, "1e+300"), (3, "3"), (0.5, "0.5"),
  ])
  func `Numbers are written in the Prometheus format`(value: Double, text: String) {
    #expect(PrometheusName.number(value) == text)
  }
}
