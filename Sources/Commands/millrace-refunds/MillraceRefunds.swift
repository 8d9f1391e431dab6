// The process that acts on refunds.

internal import Millrace
internal import Refunds

@main
enum MillraceRefunds {
  static func main() async { await RefundsWorker.main() }
}
