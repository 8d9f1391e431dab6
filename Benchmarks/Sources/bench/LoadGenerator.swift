// Runs wrk with a script that posts many different notifications and prints JSON.
import AppStore
import Foundation

/// The measurements of one round of load.
struct LoadResult {
  var requests: Double
  var requestsPerSecond: Double
  /// Latency in milliseconds.
  var p50: Double
  var p99: Double
  /// The number of responses other than 200, and of failed requests.
  var failures: Int
}

struct LoadGenerator {
  let script: String
  let connections: Int

  /// Writes the script. Each thread of wrk posts the bodies in turn.
  init(bodies: [[UInt8]], connections: Int, directory: String) throws {
    script = directory + "/post.lua"
    self.connections = connections
    try Data(bodies.joined(separator: [UInt8(ascii: "\n")])).write(to: URL(fileURLWithPath: directory + "/bodies.txt"))
    let lua = """
      local requests, turn = {}, 0
      function init(args)
        for body in io.lines("\(directory)/bodies.txt") do
          requests[#requests + 1] = wrk.format("POST", "/v2", {["Content-Type"] = "application/json"}, body)
        end
      end
      function request()
        turn = turn % #requests + 1
        return requests[turn]
      end
      function done(summary, latency, requests)
        local errors = summary.errors
        io.write(string.format(
          '{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"failures":%d}\\n',
          summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
          errors.status + errors.connect + errors.read + errors.write + errors.timeout))
      end
      """
    try Data(lua.utf8).write(to: URL(fileURLWithPath: script))
  }

  func run(port: Int, seconds: Int) throws -> LoadResult {
    let output = try ChildProcess.output(
      of: "wrk",
      [
        "--threads", "2", "--connections", "\(connections)", "--duration", "\(seconds)s", "--timeout", "10s",
        "--script", script, "http://127.0.0.1:\(port)",
      ])
    guard let line = output.split(separator: "\n").last(where: { $0.hasPrefix("{") }) else {
      throw BenchError("wrk printed no result: \(output)")
    }
    let result = try JSONObject(parsing: Array(line.utf8))
    func number(_ name: String) throws -> Double {
      guard case .integer(let value)? = result[name] else { throw BenchError("wrk's result has no \(name)") }
      return Double(value)
    }
    return LoadResult(
      requests: try number("requests"),
      requestsPerSecond: try number("requests") / (try number("microseconds") / 1e6),
      p50: try number("p50") / 1_000, p99: try number("p99") / 1_000, failures: Int(try number("failures")))
  }
}
