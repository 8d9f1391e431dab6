// The members of a JSON object, in order and including duplicates.

/// A JSON object that preserves the order and duplicates of its members.
///
/// Lookup is linear. Apple's objects have at most a few dozen members, and an array of that size is cheaper to build,
/// copy and search than a dictionary.
public struct JSONObject: Sendable, Hashable {
  /// A name and its value.
  public struct Member: Sendable, Hashable {
    /// The name, unescaped.
    public var key: String
    /// The value.
    public var value: JSON

    /// Creates a member.
    public init(key: String, value: JSON) {
      self.key = key
      self.value = value
    }
  }

  /// All members in order, including duplicates.
  public var members: [Member]

  /// Creates an object with these members in this order.
  public init(_ members: [Member] = []) {
    self.members = members
  }

  /// The value for a name; nil if there is no such member.
  ///
  /// Reading: if several members have the name, the last one wins, as in JavaScript, Python and Java's JSON libraries.
  /// All readers of a record therefore see the same value.
  ///
  /// Writing: the last member with the name receives the value at its position, and its duplicates are removed. A new
  /// name is appended. nil removes every member with the name.
  public subscript(key: String) -> JSON? {
    get {
      guard let index = lastIndex(of: key) else { return nil }
      return members[index].value
    }
    set {
      let last = lastIndex(of: key)
      guard let newValue else {
        if last != nil { members.removeAll { Self.same($0.key, key) } }
        return
      }
      guard let last else {
        members.append(Member(key: key, value: newValue))
        return
      }
      members[last].value = newValue
      let earlier = members[..<last].filter { !Self.same($0.key, key) }
      if earlier.count != last { members.replaceSubrange(..<last, with: earlier) }
    }
  }

  private func lastIndex(of key: String) -> Int? {
    members.lastIndex { Self.same($0.key, key) }
  }

  /// Whether two names have the same bytes. Swift's `==` also equates canonically equivalent text (KELVIN SIGN and
  /// `K`), but such text never has the length of its ASCII equivalent.
  static func same(_ one: String, _ other: String) -> Bool {
    one.utf8.count == other.utf8.count && one == other
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// An object with its members in this order.
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self.init(elements.map { Member(key: $0.0, value: $0.1) })
  }
}
