// Runs the renewal-extensions worker as a process.

import MillraceWorker
import RenewalExtensions

@main
enum MillraceRenewalExtensions {
  static func main() async { await RenewalExtensionsWorker.main() }
}
