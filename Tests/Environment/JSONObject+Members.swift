// Members of a JSON object by type, for tests that read facts and reports.

package import AppStore

extension JSONObject {
  package func string(_ name: String) -> String? {
    if case .string(let text)? = self[name] { text } else { nil }
  }

  package func integer(_ name: String) -> Int64? {
    if case .integer(let number)? = self[name] { number } else { nil }
  }

  package func object(_ name: String) -> JSONObject? {
    if case .object(let object)? = self[name] { object } else { nil }
  }

  /// The objects of an array; empty if the member is not an array.
  package func objects(_ name: String) -> [JSONObject] {
    guard case .array(let elements)? = self[name] else { return [] }
    return elements.compactMap { if case .object(let object) = $0 { object } else { nil } }
  }
}
