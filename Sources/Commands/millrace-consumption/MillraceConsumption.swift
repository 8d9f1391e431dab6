internal import Consumption
internal import Millrace

@main enum MillraceConsumption {
  static func main() async { await ConsumptionWorker.main() }
}
