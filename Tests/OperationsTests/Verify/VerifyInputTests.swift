import Operations
import Testing

@Suite("The input of millrace verify")
struct VerifyInputTests {
  private static let token = "aaa.bbb.ccc"

  @Test(
    "a token is found on its own or in the body that contains it",
    arguments: [
      (token, .notification),
      ("\n \t\(token)\r\n", .notification),
      ("\u{FEFF}\(token)", .transaction),
      (#"{"signedPayload":"\#(token)"}"#, .notification),
      (" {\n \"signedPayload\" : \" \(token) \" }\n", .notification),
      (#"{"signedTransactionInfo":"\#(token)"}"#, .transaction),
      (#"{"signedRenewalInfo":"\#(token)"}"#, .renewalInfo),
      (#"{"signedAppTransactionInfo":"\#(token)"}"#, .appTransaction),
      (#"{"signedPayload":"\#(token)"}"#, .transaction),
      (#"{"signedPayload":"x","signedTransactionInfo":"\#(token)"}"#, .transaction),
    ] as [(String, SignedDataKind)])
  func found(input: String, kind: SignedDataKind) throws {
    #expect(try VerifyInput.token(in: Array(input.utf8), kind: kind) == Array(Self.token.utf8))
  }

  @Test(
    "input without a token is refused with an explanation",
    arguments: [
      ("", "empty"), (" \n", "empty"), ("{", "invalid JSON"), ("{}", "signedPayload"),
      (#"{"signedPayload":1}"#, "signedPayload"),
      (#"{"notification_type":"CANCEL"}"#, "version 1"),
    ])
  func refused(input: String, part: String) throws {
    let fault = try #require(throws: VerifyInput.Fault.self) {
      try VerifyInput.token(in: Array(input.utf8), kind: .notification)
    }
    #expect(fault.message.contains(part), "\(fault.message)")
  }
}
