// Codable conformances, for code that already has a decoder, such as a client's response type, a configuration or a
// test.

extension JSON: Codable {
  /// Decodes any JSON value. Foundation's decoders lose the text of numbers, the order of members, and duplicates. If
  /// those matter, use ``init(parsing:maximumDepth:)-(UnsafeRawBufferPointer,_)``.
  public init(from decoder: any Decoder) throws {
    if let container = Self.ifMatching({ try decoder.container(keyedBy: JSONKey.self) }) {
      self = .object(try JSONObject(from: container))
      return
    }
    if var container = Self.ifMatching({ try decoder.unkeyedContainer() }) {
      var elements: [JSON] = []
      while !container.isAtEnd { elements.append(try container.decode(JSON.self)) }
      self = .array(elements)
      return
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = Self.ifMatching({ try container.decode(Bool.self) }) {
      self = .bool(value)
    } else if let value = Self.ifMatching({ try container.decode(Int64.self) }) {
      self = .integer(value)
    } else if let value = Self.ifMatching({ try container.decode(UInt64.self) }) {
      self = .number(String(value))
    } else if let value = Self.ifMatching({ try container.decode(Double.self) }) {
      self = .number(String(describing: value))
    } else {
      self = .string(try container.decode(String.self))
    }
  }

  /// Encodes this value.
  ///
  /// - Throws: `EncodingError` for a number that is neither a 64-bit integer nor finite as a `Double`.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .object(let object): try object.encode(to: encoder)
    case .array(let elements):
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(element) }
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    case .bool(let value): try value.encode(to: encoder)
    case .integer(let value): try value.encode(to: encoder)
    case .string(let value): try value.encode(to: encoder)
    case .number(let text):
      if let value = UInt64(text) {
        try value.encode(to: encoder)
      } else if let value = Double(text), value.isFinite {
        try value.encode(to: encoder)
      } else {
        let context = EncodingError.Context(
          codingPath: encoder.codingPath, debugDescription: "the number is out of range for Double; use serialized()")
        throw EncodingError.invalidValue(self, context)
      }
    }
  }

  /// Returns the result, or nil if the value has another type, because a decoder cannot be asked for the type first.
  /// Every error counts as another type: Foundation reports it in several ways, not all of them a `DecodingError`. The
  /// last attempt does throw, so a value of no supported type is still an error.
  private static func ifMatching<Value>(_ body: () throws -> Value) -> Value? {
    do {
      return try body()
    } catch {
      return nil
    }
  }
}

extension JSONObject: Codable {
  /// Decodes an object. The order of members depends on the decoder.
  public init(from decoder: any Decoder) throws {
    try self.init(from: decoder.container(keyedBy: JSONKey.self))
  }

  init(from container: KeyedDecodingContainer<JSONKey>) throws {
    self.init()
    for key in container.allKeys {
      members.append(Member(key: key.stringValue, value: try container.decode(JSON.self, forKey: key)))
    }
  }

  /// Encodes this object. Of duplicate names, the last member is kept.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: JSONKey.self)
    for member in members { try container.encode(member.value, forKey: JSONKey(member.key)) }
  }
}

/// A coding key with any name.
struct JSONKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }
}
