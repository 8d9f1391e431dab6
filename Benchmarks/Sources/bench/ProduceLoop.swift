// Runs librdkafka's own loop in C, the baseline of an awaited send.
import CProduceLoop

enum ProduceLoop {
  /// Sends records and awaits each acknowledgement, with at most `inFlight` unacknowledged records.
  static func run(_ bootstrap: String, topic: String, count: Int, bytes: Int, inFlight: Int) throws -> Sample {
    var latencies = [UInt64](repeating: 0, count: count)
    var elapsed: UInt64 = 0
    var message = [CChar](repeating: 0, count: 512)
    let cpu = CPUTime.ofProcess
    let status = produce_loop(bootstrap, topic, count, bytes, inFlight, &latencies, &elapsed, &message, 512)
    guard status == 0 else {
      let reason = message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      throw BenchError("the loop in C: " + String(decoding: reason, as: UTF8.self))
    }
    return Sample(
      nanoseconds: latencies.map { Double($0) }, elapsed: Double(elapsed), cpuSeconds: CPUTime.ofProcess - cpu)
  }
}
