// One executable with several names. A static Swift executable contains the standard library, some 60 MB, so the image
// has one, and every process is a link to it. Started as `millrace-ingress`, it runs the ingress.

import ArgumentParser
import Console
import Consumption
import Decoder
import Forward
import HTTPWorkers
import Ingress
import MillraceWorker
import Operations
import Refunds
import RenewalExtensions
import Subscriptions

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

@main
enum Program {
  static func main() async {
    switch CommandLine.arguments.first?.split(separator: "/").last {
    case "millrace-ingress": await IngressCommand.main()
    case "millrace-refunds": await RefundsWorker.main()
    case "millrace-renewal-extensions": await RenewalExtensionsWorker.main()
    case "millrace-forward": await Forwarder.main()
    case "millrace-consumption": await ConsumptionWorker.main()
    case "millrace-subscriptions": await SubscriptionsWorker.main()
    case "millrace-decoder": await DecoderWorker.main()
    case "millrace-worker": await HTTPWorkerCommand.main()
    case "millrace-console": await ConsoleCommand.main()
    default:
      if let problem = MillraceCommand.unknownCommand(CommandLine.arguments.dropFirst(), after: "millrace") {
        Output.standardError(environment: ProcessEnvironment.current).note("error: \(problem)")
        exit(CommandStatus.usage.rawValue)
      }
      await MillraceCommand.main()
    }
  }
}
