import AppStore
@testable import AppStoreSignature
import Testing

@Suite("OCSP expiry")
struct OCSPExpiryTests {
  @Test(
    "data that is not a response has no nextUpdate",
    arguments: [[], [[]], [[0x30, 0x00]], [[0x30, 0x03, 0x0A, 0x01, 0x00]], [Array("<html>".utf8)]] as [[[UInt8]]])
  func garbage(responses: [[UInt8]]) {
    #expect(OCSPExpiry.earliestNextUpdate(in: responses) == nil)
  }
}
