// Tests the static member name of a worker's process, and whether the process keeps its lanes when it stops.

import Testing

@testable import MillraceCore
@testable import MillraceWorker

@Suite struct StaticMembershipTests {
  private func configuration(_ text: String, _ environment: [String: String] = [:]) throws -> MillraceConfiguration {
    try LoadedConfiguration.load(text: text, environment: environment).configuration
  }

  @Test func `a named process uses its name as static member of every group and for transactions`()
    throws
  {
    let configuration = try configuration(
      "workers: {refunds: {}}", ["MILLRACE_KAFKA_INSTANCE": "millrace-refunds-0"])
    for worker in ["refunds", "forward-a"] {
      #expect(configuration.staticMember(of: worker) == "millrace-refunds-0")
      #expect(configuration.instance(of: worker) == "millrace-refunds-0")
      #expect(configuration.onStop(of: worker) == .keep)
    }
  }

  @Test func `a process without a name is a dynamic member, and its transactions have a random name`() throws {
    let configuration = try configuration("workers: {refunds: {onStop: keep}}")
    #expect(configuration.staticMember(of: "refunds") == nil)
    #expect(configuration.onStop(of: "refunds") == .leave)
    #expect(configuration.instance(of: "refunds") != configuration.instance(of: "refunds"))
  }

  @Test func `a worker can have its own name, and can leave on stop`() throws {
    let configuration = try configuration(
      "{kafka: {instance: a}, workers: {refunds: {staticMember: b}, consumption: {onStop: leave}}}")
    #expect(configuration.staticMember(of: "refunds") == "b" && configuration.onStop(of: "refunds") == .keep)
    #expect(configuration.staticMember(of: "consumption") == "a" && configuration.onStop(of: "consumption") == .leave)
  }

  @Test(arguments: ["a b", "refunds@1", "..", "ä", String(repeating: "a", count: 201)])
  func `a name that brokers would refuse is a configuration error`(name: String) {
    let error = #expect(throws: MillraceError.self) {
      try configuration("", ["MILLRACE_KAFKA_INSTANCE": name])
    }
    #expect(error?.description.contains("kafka.instance") == true, "\(error?.description ?? "")")
  }
}
