import TestEnvironment
import Testing

@testable import MillraceCore

@Suite struct SecretFileTests {
  @Test(arguments: [("s3cret", "s3cret"), ("s3cret\n", "s3cret"), ("s3cret\r\n", "s3cret"), ("a\n\n", "a\n")])
  func `One newline at the end of the file is not part of the secret`(text: String, expected: String) throws {
    let directory = try TemporaryDirectory()
    let secret = try SecretFile(directory.write(text, to: "secret"))
    #expect(secret.withBytes { $0 } == Array(expected.utf8))
  }

  @Test(arguments: ["", "\n", "\r\n"])
  func `An empty secret is an error that names the file`(text: String) throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write(text, to: "secret")
    let error = #expect(throws: MillraceError.self) { try SecretFile(path) }
    #expect(error?.problems.first?.place == path)
  }

  @Test func `Printing a secret shows a mask`() throws {
    let directory = try TemporaryDirectory()
    let secret = try SecretFile(directory.write("hunter2", to: "secret"))
    #expect("\(secret)" == "********")
    #expect(String(reflecting: secret) == "********")
  }
}
