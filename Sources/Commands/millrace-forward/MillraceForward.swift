// The process that posts notifications to receivers: everything a worker's process has is the SDK's.

internal import Forward
internal import Millrace

@main
enum MillraceForward {
  static func main() async { await Forwarder.main() }
}
