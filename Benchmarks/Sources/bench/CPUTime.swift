// Measures CPU time instead of elapsed time, to exclude other processes on the machine.
import Glibc

enum CPUTime {
  /// The CPU time of this process in seconds, all threads.
  static var ofProcess: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
