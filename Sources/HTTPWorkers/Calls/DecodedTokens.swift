// Apple's answers have signed tokens. An endpoint receives what they contain.

internal import AppStore
internal import AppStoreSignature

/// Replaces the tokens in an answer, which the client has verified, with their payloads.
enum DecodedTokens {
  private static let names = [
    "signedTransactionInfo": "transaction", "signedRenewalInfo": "renewalInfo",
    "signedAppTransactionInfo": "appTransaction", "signedTransactions": "transactions",
  ]

  /// Returns an object with payloads in the place of tokens. A token of an unknown name is removed.
  static func object(_ object: JSONObject) -> JSONObject {
    JSONObject(
      object.members.compactMap { member in
        value(member.value, isKnown: names[member.key] != nil).map {
          JSONObject.Member(key: names[member.key] ?? member.key, value: $0)
        }
      })
  }

  private static func value(_ value: JSON, isKnown: Bool) -> JSON? {
    switch value {
    case .string(let text) where isKnown: payload(of: text)
    case .string(let text): TokenFree.isToken(text) ? nil : value
    case .array(let elements): .array(elements.compactMap { self.value($0, isKnown: isKnown) })
    case .object(let object): .object(self.object(object))
    default: value
    }
  }

  private static func payload(of token: String) -> JSON? {
    do {
      return .object(try UnverifiedToken(parsing: Array(token.utf8)).payload)
    } catch {
      // The client has verified every token with a known name, so this one is no token.
      return nil
    }
  }
}
