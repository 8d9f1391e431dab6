// One token for everybody until shortly before it expires: signing costs more than the rest of a call. A token that Apple
// refused is never given out again, and the next one is made with the next key.

internal import AppStore
internal import Clocks
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
  /// The token being made, so that a thousand callers make one. It belongs to all of them and takes microseconds: the
  /// cancellation of one caller must not take it from the others.
  private var making: Task<APIToken, any Error>?

  init(_ credentials: APICredentials, clock: MillraceClock) {
    bundleId = credentials.bundleId
    keys = credentials.keys
    self.clock = clock
  }

  /// A token that Apple has not refused, fresh enough to be sent now.
  func token() async throws(CredentialsError) -> APIToken {
    if let current, current.isFresh(at: clock.wallTime) { return current }
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
      throw CredentialsError(keyId: key.keyId, what: "no token could be signed")
    }
  }

  /// Notes that Apple refused a token: what is made next is made with the next key. Of many callers whose calls were
  /// refused with one token the first moves on, the others find it done.
  func refuse(_ token: APIToken) {
    guard token.serial == current?.serial else { return }
    current = nil
    keyIndex = (token.keyIndex + 1) % keys.count
  }

  /// The identifier of the key that made a token.
  nonisolated func keyId(of token: APIToken) -> String {
    keys.indices.contains(token.keyIndex) ? keys[token.keyIndex].keyId : ""
  }

  private var key: APIKey { keys[keyIndex] }

  private func make() -> Task<APIToken, any Error> {
    serial += 1
    let (index, serial, key, now) = (keyIndex, serial, key, clock.wallTime)
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
