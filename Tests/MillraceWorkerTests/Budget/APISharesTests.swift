import AppStoreServerAPI
import AppStoreSigning
import Testing

@testable import MillraceCore
@testable import MillraceWorker

@Suite struct APISharesTests {
  private func configuration(_ workers: [(name: String, calls: [APIEndpoint]?, weight: Double?)])
    -> MillraceConfiguration
  {
    var configuration = MillraceConfiguration()
    for worker in workers {
      var entry = WorkerEntry()
      (entry.calls, entry.callWeight) = (worker.calls, worker.weight)
      configuration.workers[worker.name] = entry
    }
    return configuration
  }

  @Test func `without the subscriptions worker each built-in worker gets the whole budget of its endpoints`() {
    let all = configuration([("refunds", nil, nil), ("renewal-extensions", nil, nil), ("consumption", nil, nil)])
    for (worker, calls) in APIShares.calls where worker != "subscriptions" {
      for endpoint in calls {
        #expect(APIShares(of: worker, in: all).part(at: endpoint) == 1 - APIShares.commands(at: endpoint))
      }
      #expect(APIShares(of: worker, in: all).undeclared.isEmpty)
    }
    #expect(APIShares(of: "refunds", in: all).part(at: .extendSubscriptionRenewalDate) == 0)
  }

  @Test func `two workers that call one endpoint divide its budget equally or by weight`() {
    var both = configuration([
      ("renewal-extensions", nil, nil), ("support", [.extendSubscriptionRenewalDate, .lookUpOrderId], nil),
    ])
    for worker in ["renewal-extensions", "support"] {
      #expect(APIShares(of: worker, in: both).part(at: .extendSubscriptionRenewalDate) == 0.5)
    }
    #expect(APIShares(of: "support", in: both).part(at: .lookUpOrderId) == 0.75)
    #expect(APIShares(of: "support", in: both).part(at: .getTransactionInfo) == 0, "undeclared endpoint")
    both.workers["renewal-extensions"]?.callWeight = 3
    #expect(APIShares(of: "renewal-extensions", in: both).part(at: .extendSubscriptionRenewalDate) == 0.75)
    #expect(APIShares(of: "support", in: both).part(at: .extendSubscriptionRenewalDate) == 0.25)
  }

  @Test func `a worker without declared calls counts at every endpoint`() {
    var all = configuration([("consumption", nil, nil), ("winback", nil, nil)])
    #expect(APIShares(of: "consumption", in: all).part(at: .sendConsumptionInformation) == 0.5)
    #expect(APIShares(of: "consumption", in: all).undeclared == ["winback"])
    #expect(APIShares(of: "winback", in: all).part(at: .sendConsumptionInformation) == 0.5)
    all.workers["winback"]?.calls = []
    #expect(APIShares(of: "consumption", in: all).part(at: .sendConsumptionInformation) == 1)
    #expect(APIShares(of: "consumption", in: all).undeclared.isEmpty)
    #expect(APIShares(of: "winback", in: all).part(at: .sendConsumptionInformation) == 0)
  }

  @Test func `a worker that lists extensions also has a part of the call that protects them`() {
    let all = configuration([("winback", [.extendSubscriptionRenewalDate], nil), ("support", [.lookUpOrderId], nil)])
    #expect(APIShares(of: "winback", in: all).part(at: .getAllSubscriptionStatuses) == 0.75)
    #expect(APIShares(of: "support", in: all).part(at: .getAllSubscriptionStatuses) == 0)
    let both = configuration([("winback", [.extendSubscriptionRenewalDate], nil), ("subscriptions", nil, nil)])
    for worker in ["winback", "subscriptions"] {
      #expect(APIShares(of: worker, in: both).part(at: .getAllSubscriptionStatuses) == 0.375)
    }
  }

  @Test func `a forwarding worker makes no calls to Apple`() {
    let all = configuration([("refunds", nil, nil), ("forward-legacy", nil, nil)])
    #expect(APIShares(of: "refunds", in: all).part(at: .getTransactionInfo) == 0.75)
    #expect(APIShares(of: "refunds", in: all).undeclared.isEmpty)
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func `the parts of all workers and of commands never exceed the whole budget`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let names = ["refunds", "renewal-extensions", "consumption", "winback", "support"].shuffled(using: &random)
    let all = configuration(
      names.prefix(Int.random(in: 1...5, using: &random)).map { name in
        let calls = APIEndpoint.allCases.filter { _ in Bool.random(using: &random) }
        return (
          name, Bool.random(using: &random) ? calls : nil,
          Bool.random(using: &random) ? Double.random(in: 0.1...9, using: &random) : nil
        )
      })
    for endpoint in APIEndpoint.allCases {
      let parts = all.workerNames.map { APIShares(of: $0, in: all).part(at: endpoint) }
      #expect(parts.reduce(APIShares.commands(at: endpoint), +) <= 1.000_000_1, "\(endpoint), seed \(seed)")
    }
  }
}
