import Crypto
import Testing

@testable import AppStoreServerAPI

@Suite struct APICredentialsTests {
  private let pem = P256.Signing.PrivateKey().pemRepresentation

  @Test func `a key's description has its names but not the key`() throws {
    let key = try APIKey(issuerId: "issuer", keyId: "KEY1234567", privateKeyPEM: pem)
    var dumped = ""
    dump(key, to: &dumped)
    let credentials = try APICredentials(bundleId: "com.example.app", keys: [key])
    dump(credentials, to: &dumped)
    let secret = pem.split(separator: "\n").dropFirst().first.map(String.init) ?? pem
    for text in ["\(key)", String(reflecting: key), "\(credentials)", String(reflecting: credentials), dumped] {
      #expect(text.contains("KEY1234567"))
      #expect(!text.contains(secret))
      #expect(!text.contains("PRIVATE KEY"))
      #expect(!text.lowercased().contains("privatekey"))
    }
  }

  @Test(arguments: [
    "", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", P384.Signing.PrivateKey().pemRepresentation,
    P256.Signing.PrivateKey().publicKey.pemRepresentation,
  ])
  func `anything but a P-256 private key is refused without quoting it`(pem: String) {
    let error = #expect(throws: CredentialsError.self) {
      try APIKey(issuerId: "issuer", keyId: "KEY1234567", privateKeyPEM: pem)
    }
    #expect(error?.keyId == "KEY1234567")
    #expect(error.map { !"\($0)".contains("AAAA") } ?? false)
  }

  @Test func `a key is read with its lines joined, with other line ends and with a byte order mark`() throws {
    let parts = pem.split(separator: "\n").map(String.init)
    let base64 = parts.dropFirst().dropLast().joined()
    let begin = "-----BEGIN PRIVATE KEY-----"
    let end = "-----END PRIVATE KEY-----"
    let forms = [
      pem, "\(begin)\n\(base64)\n\(end)\n", "\(begin)\(base64)\(end)", "\(begin) \(base64) \(end)",
      pem.replacing("\n", with: "\r\n"), "\u{FEFF}" + pem, "\u{FEFF}" + pem.replacing("\n", with: "\r\n"),
      "\n\n" + pem + "\n\n",
    ]
    for form in forms {
      #expect(throws: Never.self, "\(form.debugDescription.prefix(40))") {
        try APIKey(issuerId: "issuer", keyId: "KEY1234567", privateKeyPEM: form)
      }
    }
  }

  @Test func `empty names and missing keys are refused`() {
    #expect(throws: CredentialsError.self) { try APIKey(issuerId: "", keyId: "K", privateKeyPEM: pem) }
    #expect(throws: CredentialsError.self) { try APIKey(issuerId: "i", keyId: "", privateKeyPEM: pem) }
    #expect(throws: CredentialsError.self) { try APICredentials(bundleId: "com.example.app", keys: []) }
  }
}
