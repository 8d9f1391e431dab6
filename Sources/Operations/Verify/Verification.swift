// Finds the token in the input and verifies it as the expected kind.

internal import AppStore
package import AppStoreSignature

/// Verifies tokens of one kind for one app.
package struct Verification: Sendable {
  /// The maximum size of the input, in bytes. Apple's tokens have up to about 20 kB.
  static let inputLimit = 4 << 20

  private let verifier: SignedDataVerifier
  private let identity: IdentityPolicy
  private let kind: SignedDataKind

  /// Creates a verification.
  package init(verifier: SignedDataVerifier, identity: IdentityPolicy, kind: SignedDataKind) {
    self.verifier = verifier
    self.identity = identity
    self.kind = kind
  }

  /// Verifies a token, or the body that contains it.
  package func report(on input: [UInt8]) async -> VerifyReport {
    let token: [UInt8]
    do {
      token = try VerifyInput.token(in: input, kind: kind)
    } catch {
      return VerifyReport(error)
    }
    let report = await report(onToken: token)
    guard let payload = Self.payload(of: token) else { return report }
    // Apple does not sign the tokens of Xcode, whatever their kind.
    if payload["environment"] == .string(AppStoreEnvironment.xcode.rawValue) {
      return report.isValid ? report : .xcode(SignedDataKind(of: payload))
    }
    guard let found = SignedDataKind(of: payload) else { return report }
    return found == kind ? report : report.refusing(found, as: kind)
  }

  private static func payload(of token: [UInt8]) -> JSONObject? {
    do { return try UnverifiedToken(parsing: token).payload } catch { return nil }
  }

  private func report(onToken token: [UInt8]) async -> VerifyReport {
    do {
      switch kind {
      case .notification:
        return VerifyReport(try await verifier.verifyNotification(token, identity: identity))
      case .transaction:
        return VerifyReport(payload: try await verifier.verifyTransaction(token, identity: identity).payload.json)
      case .renewalInfo:
        return VerifyReport(payload: try await verifier.verifyRenewalInfo(token, identity: identity).payload.json)
      case .appTransaction:
        return VerifyReport(payload: try await verifier.verifyAppTransaction(token, identity: identity).payload.json)
      }
    } catch {
      return VerifyReport(error)
    }
  }
}
