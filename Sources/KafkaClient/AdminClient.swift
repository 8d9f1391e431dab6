internal import CRDKafka

/// A client for one administrative call, and the problems that its brokers report meanwhile. Used by one thread.
struct AdminClient {
  let handle: ClientHandle
  let reporter: ConnectionReporter?
  var problems: BrokerProblems

  /// The time limits of the attempts to reach the cluster; the last one is repeated. The client's problems are reported
  /// after each attempt.
  private static let tries: [Duration] = [.seconds(2), .seconds(5), .seconds(10)]
  /// Calls with a shorter limit have one attempt, because a slow broker needs the time.
  private static let shortLimit = Duration.seconds(5)

  /// Returns the cluster's metadata, which the caller must destroy, and its id.
  ///
  /// - Throws: ``KafkaError`` if no broker answered in time. It throws early if every broker that was asked refuses
  ///   this client's credentials or certificates.
  mutating func metadata(_ timeout: Duration) throws(KafkaError) -> (UnsafePointer<rd_kafka_metadata>, String?) {
    let end = ContinuousClock.now.advanced(by: timeout)
    var tries = timeout < Self.shortLimit ? [timeout] : Self.tries[...]
    while true {
      let left = max(.milliseconds(1), end - ContinuousClock.now)
      let limit = min(tries.first ?? left, left)
      if tries.count > 1 { tries.removeFirst() }
      var metadata: UnsafePointer<rd_kafka_metadata>?
      let error = rd_kafka_metadata(handle.rk, 1, nil, &metadata, Int32(clamping: limit.wholeMilliseconds))
      if error == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata {
        reporter?.connected()
        guard let text = rd_kafka_clusterid(handle.rk, Int32(clamping: left.wholeMilliseconds)) else {
          return (metadata, nil)
        }
        defer { rd_kafka_mem_free(handle.rk, text) }
        return (metadata, String(cString: text))
      }
      let failure = KafkaError(error, operation: "read the cluster's metadata")
      problems.drain(handle.queue)
      let isHopeless = !problems.all.isEmpty && problems.all.allSatisfy(\.needsCorrection)
      guard failure.isRetriable, !isHopeless, reporter?.ends(at: problems.all) != true,
        end - ContinuousClock.now > .milliseconds(10)
      else { throw failure }
      reporter?.take(problems.all)
    }
  }

  /// Returns the error with the broker problems added: on its own, a wrong password or certificate is just a time-out.
  mutating func explained(_ error: KafkaError) -> KafkaError {
    problems.drain(handle.queue)
    guard !problems.all.isEmpty else { return error }
    var explained = error
    explained.problems = problems.all
    explained.reason += ": \(problems.all.map(\.description).joined(separator: ", "))"
    return explained
  }
}
