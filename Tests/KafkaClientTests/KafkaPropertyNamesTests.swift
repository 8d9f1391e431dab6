import Testing

@testable import KafkaClient

@Suite struct KafkaPropertyNamesTests {
  @Test func `every documented name is known, and some that every version has are documented`() {
    let names = KafkaPropertyNames.all
    #expect(names.count > 100 && names == names.sorted())
    for name in names { #expect(KafkaPropertyNames.isKnown(name), "\(name)") }
    for name in ["acks", "bootstrap.servers", "linger.ms", "sasl.mechanism", "security.protocol", "ssl.ca.location"] {
      #expect(names.contains(name), "\(name)")
    }
  }

  @Test(arguments: ["", "Acks", "security.protokol", "Property", "ssl", "topic"])
  func `other names are unknown`(name: String) { #expect(!KafkaPropertyNames.isKnown(name)) }
}
