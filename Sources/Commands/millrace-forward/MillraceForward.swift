// Runs the forward worker as a process.

internal import Forward
internal import Millrace

@main
enum MillraceForward {
  static func main() async { await Forwarder.main() }
}
