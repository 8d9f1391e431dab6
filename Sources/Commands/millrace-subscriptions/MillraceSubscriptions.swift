// Runs the subscriptions worker as a process.

internal import MillraceWorker
internal import Subscriptions

@main
enum MillraceSubscriptions {
  static func main() async { await SubscriptionsWorker.main() }
}
