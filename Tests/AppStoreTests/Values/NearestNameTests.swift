import AppStore
import Testing

@Suite struct NearestNameTests {
  private static let names = ["kafka.durability", "ingress.port", "admin.port", "ingress.deadline"]

  @Test(arguments: [
    ("durability", "kafka.durability"), ("ingress.prot", "ingress.port"), ("ingress.Deadline", "ingress.deadline"),
    ("server.port", "ingress.port"),
  ])
  func `a typing error finds the intended name`(name: String, expected: String) {
    #expect(NearestName.of(name, among: Self.names) == expected)
  }

  @Test(arguments: ["", "zookeeper", "a.b.c"])
  func `a text without resemblance finds nothing`(name: String) {
    #expect(NearestName.of(name, among: Self.names) == nil)
  }
}
