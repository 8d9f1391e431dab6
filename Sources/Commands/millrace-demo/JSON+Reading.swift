// Typed access to JSON members, for files that Millrace's own programs wrote.
import AppStore

extension JSONObject {
  func text(_ name: String) -> String? {
    if case .string(let text)? = self[name] { text } else { nil }
  }

  func count(_ name: String) -> Int? {
    if case .integer(let number)? = self[name] { Int(number) } else { nil }
  }

  /// An object whose members are numbers.
  func counts(_ name: String) -> [String: Int]? {
    guard case .object(let object)? = self[name] else { return nil }
    return Dictionary(
      object.members.compactMap { member in object.count(member.key).map { (member.key, $0) } },
      uniquingKeysWith: { $1 })
  }
}
