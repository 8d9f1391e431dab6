import Testing

@testable import Millrace

@Suite struct SecretTests {
  @Test(arguments: [("s3cret", "s3cret"), ("s3cret\n", "s3cret"), ("s3cret\r\n", "s3cret"), ("a\n\n", "a\n")])
  func `One newline at the end of the file is not part of it`(text: String, expected: String) throws {
    let directory = try TemporaryDirectory()
    let secret = try Secret(file: try directory.write(text, to: "secret"))
    #expect(secret.matches(Array(expected.utf8)))
    #expect(!secret.matches(Array("\(expected)x".utf8)))
    #expect(!secret.matches([]))
  }

  @Test(arguments: ["", "\n", "\r\n"])
  func `An empty secret is an error that names the file`(text: String) throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write(text, to: "secret")
    let error = #expect(throws: MillraceError.self) { try Secret(file: path) }
    #expect(error?.problems.first?.place == path)
  }

  @Test func `Printing one shows a mask`() {
    let secret = Secret(Array("hunter2".utf8))
    #expect("\(secret)" == "********")
    #expect(String(reflecting: secret) == "********")
  }
}
