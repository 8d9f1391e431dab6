// Runs the refunds worker as a process.

internal import MillraceWorker
internal import Refunds

@main
enum MillraceRefunds {
  static func main() async { await RefundsWorker.main() }
}
