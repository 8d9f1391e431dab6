// The effects of a lane by name. There may be a million of them, so they are divided: a change while a copy of the table is
// searched copies one part only.

/// Effects by name.
struct EffectTable: Sendable {
  private var parts = [[String: Effect]](repeating: [:], count: 256)

  subscript(name: String) -> Effect? {
    get { parts[Self.part(of: name)][name] }
    set { parts[Self.part(of: name)][name] = newValue }
  }

  /// Returns the names of the effects of these record keys, in no order.
  func names(of keys: Set<ArraySlice<UInt8>>) -> [String] {
    parts.flatMap { part in part.filter { keys.contains($0.value.key[...]) }.map(\.key) }
  }

  private static func part(of name: String) -> Int { Int(UInt(bitPattern: name.hashValue) >> (UInt.bitWidth - 8)) }
}
