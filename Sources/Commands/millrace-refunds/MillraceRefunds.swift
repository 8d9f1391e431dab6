// Runs the refunds worker as a process.

internal import Millrace
internal import Refunds

@main
enum MillraceRefunds {
  static func main() async { await RefundsWorker.main() }
}
