import Operations
import Testing

@Suite("Quantities as text")
struct HumanTextTests {
  @Test(
    "sizes", arguments: [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (17_500, "17.0 KiB"), (2 << 20, "2.0 MiB")])
  func size(bytes: Int, expected: String) {
    #expect(HumanText.size(bytes) == expected)
  }

  @Test(
    "prices are in thousandths",
    arguments: [
      (9990, "USD", "9.99 USD"), (0, "EUR", "0.00 EUR"), (125, "KWD", "0.125 KWD"), (1_200_000, "JPY", "1200.00 JPY"),
      (-4990, nil, "-4.99"), (Int64.min, nil, "-9223372036854775.808"),
    ] as [(Int64, String?, String)])
  func price(thousandths: Int64, currency: String?, expected: String) {
    #expect(HumanText.price(thousandths: thousandths, currency: currency) == expected)
  }

  @Test("a count of one uses the singular")
  func count() {
    #expect(HumanText.count(1, "topic") == "1 topic")
    #expect(HumanText.count(0, "topic") == "0 topics")
    #expect(HumanText.count(2, "body", plural: "bodies") == "2 bodies")
  }
}
