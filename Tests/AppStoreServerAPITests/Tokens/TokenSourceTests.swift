import AppStore
import MillraceTime
import Crypto
import Foundation
import JWTKit
import TestEnvironment
import Testing

@testable import AppStoreServerAPI

@Suite struct TokenSourceTests {
  private let manual = ManualClock()
  private let privateKeys = [P256.Signing.PrivateKey(), P256.Signing.PrivateKey()]

  private func source(keys count: Int = 1) throws -> TokenSource {
    let keys = try privateKeys.prefix(count).enumerated().map { index, key in
      try APIKey(issuerId: "issuer-\(index)", keyId: "KEY\(index)", privateKeyPEM: key.pemRepresentation)
    }
    return TokenSource(try APICredentials(bundleId: "com.example.app", keys: Array(keys)), clock: manual.clock)
  }

  private func segments(_ jwt: String) throws -> (header: JSONObject, claims: JSONObject) {
    let parts = jwt.split(separator: ".").map { String($0) }
    try #require(parts.count == 3)
    let decoded = try parts.prefix(2).map { part in
      let base64 = part.replacing("-", with: "+").replacing("_", with: "/")
      let data = try #require(Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)))
      return try JSONObject(parsing: Array(data))
    }
    return (decoded[0], decoded[1])
  }

  @Test func `a token has Apple's claims, and the public key verifies it`() async throws {
    let token = try await source().token()
    let (header, claims) = try segments(token.jwt)
    #expect(header.string("alg") == "ES256")
    #expect(header.string("kid") == "KEY0")
    #expect(header.string("typ") == "JWT")
    #expect(header.members.count == 3)
    let now = manual.clock.wallTime.millisecondsSince1970 / 1000
    #expect(claims.string("iss") == "issuer-0")
    #expect(claims.string("aud") == "appstoreconnect-v1")
    #expect(claims.string("bid") == "com.example.app")
    #expect(claims.integer("iat") == now - 60)
    #expect(claims.integer("exp") == now - 60 + 1200)
    #expect(claims.members.count == 5)
    let keys = JWTKeyCollection()
    await keys.add(ecdsa: try ES256PublicKey(pem: privateKeys[0].publicKey.pemRepresentation))
    let verified = try await keys.verify(token.jwt, as: APIClaims.self)
    #expect(verified.bid == "com.example.app")
  }

  @Test func `in a rehearsal tokens carry the real time`() async throws {
    let key = try APIKey(issuerId: "issuer", keyId: "KEY", privateKeyPEM: privateKeys[0].pemRepresentation)
    let rehearsal = MillraceClock(origin: Timestamp(millisecondsSince1970: 1_700_000_000_000), rate: 600)
    let source = TokenSource(try APICredentials(bundleId: "com.example.app", keys: [key]), clock: rehearsal)
    let before = MillraceClock.system.wallTime.millisecondsSince1970 / 1_000
    let issued = try #require(try segments(try await source.token().jwt).claims.integer("iat")) + 60
    #expect(issued >= before && issued < before + 60)
  }

  @Test func `a token is used until two minutes before its end`() async throws {
    let source = try source()
    let first = try await source.token()
    manual.advance(by: .seconds(17 * 60 - 1))
    #expect(try await source.token().jwt == first.jwt)
    manual.advance(by: .seconds(1))
    let second = try await source.token()
    #expect(second.jwt != first.jwt)
    #expect(second.expires == first.expires + .seconds(17 * 60))
  }

  @Test func `a thousand callers share one token`() async throws {
    let source = try source()
    let serials = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<1_000 { group.addTask { try await source.token().serial } }
      return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
    }
    #expect(serials == [1])
  }

  @Test func `after a refused token all its callers get one new token of the next key`() async throws {
    let source = try source(keys: 2)
    let first = try await source.token()
    for _ in 0..<3 { await source.refuse(first) }
    let second = try await source.token()
    #expect(try segments(second.jwt).header.string("kid") == "KEY1")
    #expect(try segments(second.jwt).claims.string("iss") == "issuer-1")
    await source.refuse(first)
    #expect(try await source.token().jwt == second.jwt)
    await source.refuse(second)
    #expect(source.keyId(of: try await source.token()) == "KEY0")
  }

  @Test func `with one key a refused token is followed by a new one`() async throws {
    let source = try source()
    let first = try await source.token()
    await source.refuse(first)
    let second = try await source.token()
    #expect(second.serial == first.serial + 1)
    #expect(second.jwt != first.jwt)
  }
}
