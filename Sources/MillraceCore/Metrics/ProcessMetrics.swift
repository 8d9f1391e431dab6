// Process metrics with the names that Prometheus client libraries share. They come from Linux's /proc and are absent on
// other systems.

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// CPU time, memory, threads and open files of this process.
package enum ProcessMetrics {
  /// The collectors to add to a registry.
  package static var collectors: [MetricCollector] {
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    let page = Double(sysconf(Int32(_SC_PAGESIZE)))
    return [
      MetricCollector("process_cpu_seconds_total", .counter, help: "User and system CPU time spent, in seconds.") {
        sample { $0.cpuTicks / ticks }
      },
      MetricCollector("process_resident_memory_bytes", .gauge, help: "Resident memory, in bytes.") {
        sample { $0.residentPages * page }
      },
      MetricCollector("process_threads", .gauge, help: "Threads.") { sample(\.threads) },
      MetricCollector("process_open_fds", .gauge, help: "Open file descriptors.") {
        guard
          case .success(let names) = Result(catching: { () throws(MillraceError) in
            try Files.list("/proc/self/fd", area: .lifecycle)
          })
        else { return [] }
        return [.init(Double(names.count))]
      },
    ]
  }

  /// The exported fields of `/proc/self/stat` (proc(5)).
  struct Stat: Hashable {
    var cpuTicks: Double
    var threads: Double
    var residentPages: Double

    init?(_ text: String) {
      // The command's name may contain blanks and parentheses. The fields begin after the last parenthesis.
      guard let end = text.lastIndex(of: ")") else { return nil }
      let fields = text[text.index(after: end)...].split { $0 == " " || $0 == "\n" }
      // Fields 14, 15, 20 and 24 of proc(5). Index 0 is field 3.
      guard fields.count > 21, let user = Double(fields[11]), let system = Double(fields[12]),
        let threads = Double(fields[17]), let resident = Double(fields[21])
      else { return nil }
      cpuTicks = user + system
      self.threads = threads
      residentPages = resident
    }
  }

  private static func sample(_ value: (Stat) -> Double) -> [MetricCollector.Sample] {
    guard
      case .success(let text) = Result(catching: { () throws(MillraceError) in
        try Files.readText("/proc/self/stat", area: .lifecycle)
      }), let stat = Stat(text)
    else { return [] }
    return [.init(value(stat))]
  }
}
