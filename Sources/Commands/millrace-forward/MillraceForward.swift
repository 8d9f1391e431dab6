// Runs the forward worker as a process.

internal import Forward
internal import MillraceWorker

@main
enum MillraceForward {
  static func main() async { await Forwarder.main() }
}
