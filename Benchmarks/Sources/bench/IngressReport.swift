// The result of `bench ingress`.
import AppStore

struct IngressReport {
  private let contenders: [Contender]
  /// The rounds of the loop in C.
  private let sends: [Sample]
  private let connections: Int
  private let bytes: Int

  init(_ contenders: [Contender], _ sends: [Sample], connections: Int, bytes: Int) {
    self.contenders = contenders
    self.sends = sends
    self.connections = connections
    self.bytes = bytes
  }

  /// The median over rounds of one server's throughput divided by another's.
  private func ratio(_ ours: Int, _ baseline: Int) -> Double {
    Numbers.median(
      zip(contenders[ours].rounds, contenders[baseline].rounds).map {
        $0.result.requestsPerSecond / $1.result.requestsPerSecond
      })
  }

  /// The CPU time of a send in C, in microseconds.
  private var sendCPU: Double { Numbers.median(sends.map(\.cpu)) }

  /// The median over rounds of the ingress' CPU time, in relation to that of one check and a send in C.
  private var cpuRatio: Double {
    Numbers.median(
      zip(zip(contenders[1].rounds, contenders[3].rounds), sends).map { pair, send in
        pair.0.cpuPerRequest * 1e6 / (pair.1.cpuPerRequest * 1e6 + send.cpu)
      })
  }

  var line: String {
    var object = JSONObject()
    object["benchmark"] = .string("ingress")
    object["connections"] = .integer(Int64(connections))
    object["bytes"] = .integer(Int64(bytes))
    for (name, contender) in zip(["a", "b", "c", "d"], contenders) {
      var part = JSONObject()
      part["server"] = .string(String(contender.name.dropFirst(3)))
      part.set("requestsPerSecond", contender.requestsPerSecond)
      part.set("p50Milliseconds", contender.p50)
      part.set("p99Milliseconds", contender.p99)
      part.set("cpuMicrosecondsPerRequest", contender.cpuPerRequest)
      part.set("peakMemoryMiB", contender.peakMemory)
      part["failures"] = .integer(Int64(contender.failures))
      object[name] = .object(part)
    }
    object.set("ratio", ratio(1, 2))
    object.set("ratioToOneCheck", ratio(1, 3))
    object.set("ratioToBlind", ratio(1, 0))
    object.set("sendCPUMicroseconds", sendCPU)
    object.set("cpuRatioToOneCheckAndSend", cpuRatio)
    object.set("peakMemoryMB", contenders[1].process.peakMemory / 1e6)
    return object.line
  }

  var table: String {
    var table = Table(titles: ["ingress", "requests/s", "p50 ms", "p99 ms", "CPU µs/request", "peak MiB", "failures"])
    table.rows = contenders.map {
      [
        $0.name, Numbers.whole($0.requestsPerSecond), Numbers.fixed($0.p50, 2), Numbers.fixed($0.p99, 2),
        Numbers.fixed($0.cpuPerRequest, 1), Numbers.fixed($0.peakMemory, 1), "\($0.failures)",
      ]
    }
    return """
      \(table.text)
      b / d \(Numbers.fixed(ratio(1, 3), 3))   b / c \(Numbers.fixed(ratio(1, 2), 3))   b / a \(Numbers.fixed(ratio(1, 0), 3))
      an awaited send in C: \(Numbers.fixed(sendCPU, 1)) µs of CPU   CPU of b / (d + send) \(Numbers.fixed(cpuRatio, 2))
      \(connections) connections, bodies of \(bytes) bytes; medians of alternating rounds; servers, cluster and wrk share the machine
      """
  }
}
