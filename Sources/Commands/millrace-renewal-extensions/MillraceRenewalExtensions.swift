// Runs the renewal-extensions worker as a process.

import Millrace
import RenewalExtensions

@main
enum MillraceRenewalExtensions {
  static func main() async { await RenewalExtensionsWorker.main() }
}
