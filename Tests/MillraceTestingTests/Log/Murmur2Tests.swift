import MillraceRecords
import Testing

@testable import MillraceTesting

@Suite struct Murmur2Tests {
  /// From `UtilsTest.testMurmur2` of Apache Kafka.
  @Test(
    arguments: [
      ("21", -973_932_308), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536),
      ("a-little-bit-longer-string", -1_486_304_829),
      ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971), ("abc", 479_470_107),
    ] as [(String, Int32)])
  func `hashes equal those in Kafka's tests`(text: String, hash: Int32) {
    #expect(Int32(bitPattern: Murmur2.hash(Array(text.utf8))) == hash)
  }

  @Test func `hashes of all key lengths equal those of Java's algorithm`() {
    for length in 0..<64 {
      let key = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ length) }
      #expect(Murmur2.partition(of: key, among: 97) == JavaPartitioner.partition(of: key, among: 97), "\(length) bytes")
    }
  }
}
