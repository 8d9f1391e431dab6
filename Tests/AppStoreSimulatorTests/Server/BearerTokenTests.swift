import AppStore
import Crypto
import Testing

@testable import AppStoreSimulator

@Suite struct BearerTokenTests {
  private let caller = TestCaller()
  private let check = TokenCheck(skew: .seconds(60))
  private let now = Timestamp.newYear

  private func refusal(of authorization: String?) -> TokenFlaw? {
    do throws(TokenFlaw) {
      _ = try check.claims(in: authorization, now: now) { $0 == caller.keyId ? caller.apiKey : nil }
      return nil
    } catch {
      return error
    }
  }

  @Test func `a token as Apple describes it is accepted`() throws {
    let authorization = try caller.authorization(now: now)
    let claims = try check.claims(in: authorization, now: now) { $0 == caller.keyId ? caller.apiKey : nil }
    #expect(
      claims == BearerClaims(issuerId: caller.issuerId, keyId: caller.keyId, bundleId: caller.bundleId))
  }

  @Test func `a token without iat is accepted, because two of Apple's libraries send it`() throws {
    #expect(refusal(of: try caller.authorization(caller.claims(now: now).with("iat", nil))) == nil)
  }

  @Test(arguments: [nil, "", "Bearer", "Bearer ", "Basic YTpi"] as [String?])
  func `without a bearer token nothing is checked`(authorization: String?) {
    #expect(refusal(of: authorization) == .missing)
  }

  @Test(arguments: ["Bearer a.b", "Bearer a.b.c.d", "Bearer ..", "Bearer W10.e30.AA", "Bearer é.e30.AA"])
  func `anything but a JWS is malformed`(authorization: String) {
    #expect(refusal(of: authorization) == .malformed)
  }

  static let wrongClaims: [(name: String, value: JSON?, refusal: TokenFlaw)] = [
    ("iss", "99999999-96fe-1a63-e053-0824d011072a", .issuer), ("iss", nil, .issuer),
    ("aud", "appstoreconnect-v2", .audience), ("aud", nil, .audience), ("aud", ["a"], .audience),
    ("exp", nil, .noExpiry), ("exp", "1767225900", .noExpiry),
    ("exp", .integer(1_767_225_600 - 61), .expired), ("exp", .integer(0), .expired),
    ("iat", .integer(1_767_225_600 + 61), .issuedInFuture),
    ("exp", .integer(1_767_225_600 + 3_601), .livesTooLong),
    ("exp", .integer(.max), .noExpiry),
  ]

  @Test(arguments: wrongClaims.indices)
  func `a wrong claim is refused with its reason`(index: Int) throws {
    let wrong = Self.wrongClaims[index]
    let claims = caller.claims(now: now).with(wrong.name, wrong.value)
    #expect(refusal(of: try caller.authorization(claims)) == wrong.refusal)
  }

  @Test func `the maximum lifetime is sixty minutes, and clock skew is tolerated`() throws {
    #expect(refusal(of: try caller.authorization(caller.claims(now: now, life: 3_600))) == nil)
    #expect(refusal(of: try caller.authorization(caller.claims(now: now + .seconds(59)))) == nil)
    #expect(refusal(of: try caller.authorization(caller.claims(now: now - .seconds(359)))) == nil)
  }

  @Test func `another algorithm, type or key is refused`() throws {
    let claims = caller.claims(now: now)
    #expect(refusal(of: try caller.authorization(claims, header: caller.header.with("alg", "HS256"))) == .algorithm)
    #expect(refusal(of: try caller.authorization(claims, header: caller.header.with("alg", "none"))) == .algorithm)
    #expect(refusal(of: try caller.authorization(claims, header: caller.header.with("typ", "JWS"))) == .type)
    #expect(refusal(of: try caller.authorization(claims, header: caller.header.with("kid", "OTHER"))) == .unknownKey)
    #expect(refusal(of: try caller.authorization(claims, header: caller.header.with("kid", nil))) == .unknownKey)
  }

  @Test func `a token with another key's signature or changed claims is refused`() throws {
    var other = caller
    other.privateKey = P256.Signing.PrivateKey()
    #expect(refusal(of: try other.authorization(now: now)) == .signature)
    let genuine = try caller.authorization(now: now).split(separator: ".")
    let claims = String(decoding: Base64.encodeURL(caller.claims(now: now, life: 400).serialized()), as: UTF8.self)
    #expect(refusal(of: "\(genuine[0]).\(claims).\(genuine[2])") == .signature)
  }
}
