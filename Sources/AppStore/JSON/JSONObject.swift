// The members of a JSON object as they came: in order, duplicates included.

/// A JSON object whose members keep their order and their duplicates.
///
/// Look-up is linear: Apple's objects have at most a few dozen members, and an array of them is cheaper to build, to
/// copy and to search than a dictionary of that size.
public struct JSONObject: Sendable, Hashable {
  /// One name and its value.
  public struct Member: Sendable, Hashable {
    /// The name, unescaped.
    public var key: String
    /// The value.
    public var value: JSON

    /// A member of that name and value.
    public init(key: String, value: JSON) {
      self.key = key
      self.value = value
    }
  }

  /// Every member in the order it came, duplicates included.
  public var members: [Member]

  /// An object of these members, in this order.
  public init(_ members: [Member] = []) {
    self.members = members
  }

  /// The value of a name; nil when there is no such member.
  ///
  /// Reading: of several members with one name the last wins, as in JavaScript, Python and the JSON libraries of Java,
  /// so that everybody who reads the same record sees the same value.
  ///
  /// Writing: the last member of that name takes the value where it stands and its duplicates go away; a new name goes
  /// to the end; nil removes every member of the name.
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

  /// Names are equal when their bytes are. Swift's `==` alone also equates canonically equivalent text (KELVIN SIGN and
  /// `K`); no such text has the length of the ASCII it is equivalent to.
  static func same(_ one: String, _ other: String) -> Bool {
    one.utf8.count == other.utf8.count && one == other
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// An object with its members in the order written.
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self.init(elements.map { Member(key: $0.0, value: $0.1) })
  }
}
