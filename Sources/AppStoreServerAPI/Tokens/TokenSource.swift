// Shares one token among all calls until shortly before it expires, because signing costs more than the rest of a call.
// A token that Apple rejected is not used again, and the next one is signed with the next key.

internal import AppStore
internal import MillraceTime
internal import JWTKit

/// The tokens of one app.
actor TokenSource {
  private let bundleId: String
  private let keys: [APIKey]
  private let clock: MillraceClock
  private let signers = JWTKeyCollection()
  private var hasSigners = false
  private var keyIndex = 0
  private var serial = 0
  private var current: APIToken?
  /// The task that signs the next token, shared by all callers. It takes microseconds. Cancelling one caller must not
  /// cancel the task for the others.
  private var making: Task<APIToken, any Error>?

  init(_ credentials: APICredentials, clock: MillraceClock) {
    bundleId = credentials.bundleId
    keys = credentials.keys
    self.clock = clock
  }

  /// Returns a token that Apple has not rejected and that does not expire soon.
  func token() async throws(CredentialsError) -> APIToken {
    if let current, current.isFresh(at: clock.realTime) { return current }
    let task = making ?? make()
    making = task
    do {
      let token = try await task.value
      if making == task {
        making = nil
        current = token
      }
      return token
    } catch {
      if making == task { making = nil }
      throw CredentialsError(keyId: key.keyId, what: "cannot sign a token")
    }
  }

  /// Records that Apple rejected a token; the next token is signed with the next key. If several calls report the same
  /// token, only the first report has an effect.
  func refuse(_ token: APIToken) {
    guard token.serial == current?.serial else { return }
    current = nil
    keyIndex = (token.keyIndex + 1) % keys.count
  }

  /// The ID of the key that signed a token.
  nonisolated func keyId(of token: APIToken) -> String {
    keys.indices.contains(token.keyIndex) ? keys[token.keyIndex].keyId : ""
  }

  private var key: APIKey { keys[keyIndex] }

  private func make() -> Task<APIToken, any Error> {
    serial += 1
    let (index, serial, key, now) = (keyIndex, serial, key, clock.realTime)
    return Task {
      if !self.hasSigners {
        for key in self.keys {
          await self.signers.add(ecdsa: key.privateKey, kid: JWKIdentifier(string: key.keyId))
        }
        self.hasSigners = true
      }
      let claims = APIClaims(issuerId: key.issuerId, bundleId: self.bundleId, now: now)
      let jwt = try await self.signers.sign(claims, kid: JWKIdentifier(string: key.keyId))
      let expires = now - APIToken.backdating + APIToken.lifetime
      return APIToken(serial: serial, keyIndex: index, jwt: jwt, expires: expires)
    }
  }
}
