// Durations as numbers, for metrics, librdkafka and HTTP.

extension Duration {
  /// The number of whole milliseconds, rounded towards zero; saturates at the bounds of `Int64`.
  package var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
    guard !overflow else { return seconds < 0 ? .min : .max }
    let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    return carried ? (seconds < 0 ? .min : .max) : sum
  }

  /// The number of seconds, for metrics.
  package var seconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}
