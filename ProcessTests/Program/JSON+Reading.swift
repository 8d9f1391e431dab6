// Typed access to JSON members, for files and output of Millrace's own programs.

import AppStore
import MillraceRecords

extension JSONObject {
  func object(_ name: String) -> JSONObject? {
    if case .object(let object)? = self[name] { object } else { nil }
  }

  /// An object whose members are numbers.
  func numbers(_ name: String) -> [String: Int]? {
    object(name).map { object in
      Dictionary(
        object.members.compactMap { member in object.number(member.key).map { (member.key, Int($0)) } },
        uniquingKeysWith: { $1 })
    }
  }

  /// The object as it was printed.
  var line: String { String(decoding: serialized(), as: UTF8.self) }
}
