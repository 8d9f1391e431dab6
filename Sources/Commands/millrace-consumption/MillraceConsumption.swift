internal import Consumption
internal import MillraceWorker

@main enum MillraceConsumption {
  static func main() async { await ConsumptionWorker.main() }
}
