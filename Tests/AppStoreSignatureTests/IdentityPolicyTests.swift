// Table tests of policies on whose data is accepted.
import AppStore
@testable import AppStoreSignature
import Testing

@Suite("Identity policy")
struct IdentityPolicyTests {
  private static let production = AppIdentity(bundleId: "com.a", appAppleId: 1, environments: [.production])
  private static let both = AppIdentity(bundleId: "com.b", appAppleId: 2, environments: [.production, .sandbox])

  struct Case: Sendable, CustomTestStringConvertible {
    var bundleId: String?
    var appAppleId: Int64?
    var environment: String?
    var expected: VerificationError.Reason?

    var testDescription: String {
      "\(bundleId ?? "no bundle"), \(appAppleId.map(String.init) ?? "no app id"), \(environment ?? "no environment")"
    }
  }

  private static let cases = [
    Case(bundleId: "com.a", appAppleId: 1, environment: "Production", expected: nil),
    Case(bundleId: "com.b", appAppleId: 2, environment: "Production", expected: nil),
    Case(bundleId: "com.b", appAppleId: 2, environment: "Sandbox", expected: nil),
    Case(bundleId: "com.b", appAppleId: nil, environment: "Sandbox", expected: nil),
    Case(bundleId: "com.b", appAppleId: 9, environment: "Sandbox", expected: nil),
    Case(bundleId: "com.c", appAppleId: 1, environment: "Production", expected: .appIdentifier),
    Case(bundleId: "COM.A", appAppleId: 1, environment: "Production", expected: .appIdentifier),
    Case(bundleId: nil, appAppleId: 1, environment: "Production", expected: .appIdentifier),
    Case(bundleId: "com.a", appAppleId: 2, environment: "Production", expected: .appIdentifier),
    Case(bundleId: "com.b", appAppleId: 1, environment: "Production", expected: .appIdentifier),
    Case(bundleId: "com.a", appAppleId: nil, environment: "Production", expected: .appIdentifier),
    Case(bundleId: "com.a", appAppleId: 1, environment: "Sandbox", expected: .environment),
    Case(bundleId: "com.a", appAppleId: 1, environment: "production", expected: .environment),
    Case(bundleId: "com.a", appAppleId: 1, environment: "Moon", expected: .environment),
    Case(bundleId: "com.a", appAppleId: 1, environment: nil, expected: .environment),
    Case(bundleId: "com.a", appAppleId: 1, environment: "Xcode", expected: .environment),
    Case(bundleId: "com.a", appAppleId: 1, environment: "LocalTesting", expected: .environment),
  ]

  private func notification(_ claims: Case) -> ResponseBodyV2DecodedPayload {
    var data = NotificationData()
    data.bundleId = claims.bundleId
    data.appAppleId = claims.appAppleId
    data.environment = claims.environment.map { AppStoreEnvironment(rawValue: $0) }
    var payload = ResponseBodyV2DecodedPayload()
    payload.data = data
    return payload
  }

  @Test("a notification for another app or environment is refused with the right reason", arguments: cases)
  func notifications(claims: Case) {
    let policy = IdentityPolicy([Self.production, Self.both])
    #expect(policy.fault(in: IdentityClaims(notification(claims)))?.reason == claims.expected)
  }

  @Test("no policy accepts Xcode or LocalTesting, not even the policy that accepts everything else")
  func localTokens() {
    for environment in [AppStoreEnvironment.xcode, .localTesting] {
      let claims = Case(bundleId: "com.a", appAppleId: 1, environment: environment.rawValue)
      let policies = [
        IdentityPolicy.any,
        IdentityPolicy([AppIdentity(bundleId: "com.a", appAppleId: 1, environments: [environment])]),
      ]
      for policy in policies {
        #expect(policy.fault(in: IdentityClaims(notification(claims)))?.reason == .environment)
      }
    }
  }

  @Test("any accepts every bundle, unknown environments and payloads without them")
  func any() {
    let claims = [
      Case(bundleId: "com.zzz", appAppleId: 5, environment: "Production"),
      Case(bundleId: nil, appAppleId: nil, environment: nil),
      Case(bundleId: "com.a", appAppleId: nil, environment: "Moon"),
    ]
    for claims in claims { #expect(IdentityPolicy.any.fault(in: IdentityClaims(notification(claims))) == nil) }
  }

  @Test("a policy without apps accepts nothing")
  func empty() {
    let claims = Case(bundleId: "com.a", appAppleId: 1, environment: "Production")
    #expect(IdentityPolicy([]).fault(in: IdentityClaims(notification(claims))) != nil)
  }

  @Test("a transaction is checked by bundle and environment, renewal info by environment only")
  func otherKinds() {
    let policy = IdentityPolicy([Self.production])
    var transaction = JWSTransactionDecodedPayload()
    transaction.bundleId = "com.a"
    transaction.environment = .production
    #expect(policy.fault(in: IdentityClaims(transaction)) == nil)
    transaction.bundleId = "com.b"
    #expect(policy.fault(in: IdentityClaims(transaction))?.reason == .appIdentifier)

    var renewalInfo = JWSRenewalInfoDecodedPayload()
    renewalInfo.environment = .production
    #expect(policy.fault(in: IdentityClaims(renewalInfo)) == nil)
    renewalInfo.environment = .sandbox
    #expect(policy.fault(in: IdentityClaims(renewalInfo))?.reason == .environment)
  }

  @Test("an app transaction is checked by receiptType, and in Production by app id")
  func appTransactions() {
    let policy = IdentityPolicy([Self.both])
    var appTransaction = AppTransaction()
    appTransaction.bundleId = "com.b"
    appTransaction.receiptType = .sandbox
    appTransaction.appAppleId = 0
    #expect(policy.fault(in: IdentityClaims(appTransaction)) == nil)
    appTransaction.receiptType = .production
    #expect(policy.fault(in: IdentityClaims(appTransaction))?.reason == .appIdentifier)
    appTransaction.appAppleId = 2
    #expect(policy.fault(in: IdentityClaims(appTransaction)) == nil)
  }
}
