// Apple's report about a performance test. The simulator calls no URL, so only the time and the result are meaningful.

internal import AppStore

/// The response bodies for a performance test.
enum PerformanceReport {
  private static let requests: Int64 = 1_000
  /// "Your server must respond to requests within approximately 700 ms."
  private static let responseTime: Int64 = 700
  private static let successRate: Int64 = 95

  static func config(duration: Duration) -> JSON {
    [
      "maxConcurrentRequests": 20, "totalRequests": .integer(requests),
      "totalDuration": .integer(Int64(duration / .milliseconds(1))),
      "responseTimeThreshold": .integer(responseTime), "successRateThreshold": .integer(successRate),
    ]
  }

  static func result(_ run: RealtimeSetup.Run, at now: Timestamp) -> JSONObject {
    let progress = run.progress(at: now)
    let done = Int64(Double(requests) * progress)
    let failed = run.passes ? 0 : done / 2
    let times: [Int64] = run.passes ? [90, 80, 140, 180, 260] : [640, 690, 900, 1_200, 2_500]
    var report: JSONObject = [
      "config": config(duration: run.duration),
      "target": .string(run.target),
      "result": progress < 1 ? "PENDING" : run.passes ? "PASS" : "FAIL",
      "successRate": .integer(done > 0 ? (done - failed) * 100 / done : 0),
      "numPending": .integer(requests - done),
      "responseTimes": .object(
        JSONObject(
          zip(["average", "p50", "p90", "p95", "p99"], times).map { name, time in
            JSONObject.Member(key: name, value: .integer(done > 0 ? time : 0))
          })),
    ]
    if failed > 0 { report["failures"] = .object([SendAttemptResult.timedOut.rawValue: .integer(failed)]) }
    return report
  }
}
