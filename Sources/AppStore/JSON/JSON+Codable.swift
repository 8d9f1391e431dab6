// Codable, for code that has a decoder in its hands already (a client's response type, a configuration, a test).

extension JSON: Codable {
  /// Reads any value from any decoder. Decoders of Foundation hand out neither the text of a number nor the order of
  /// members nor duplicates: where those matter use ``init(parsing:maximumDepth:)-(UnsafeRawBufferPointer,_)``.
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

  /// Writes this value to any encoder. A number that is neither a 64-bit integer nor finite as a `Double` is an
  /// `EncodingError`.
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
          codingPath: encoder.codingPath, debugDescription: "a number beyond Double; use serialized() instead")
        throw EncodingError.invalidValue(self, context)
      }
    }
  }

  /// The result, or nil when the value is of another type: a decoder offers no way to ask first. Every error means that,
  /// because Foundation says it in several ways, not all of them a `DecodingError`; what is of no type at all fails at
  /// the last attempt, which does throw.
  private static func ifMatching<Value>(_ body: () throws -> Value) -> Value? {
    do {
      return try body()
    } catch {
      return nil
    }
  }
}

extension JSONObject: Codable {
  /// Reads an object from any decoder; members come in the decoder's order.
  public init(from decoder: any Decoder) throws {
    try self.init(from: decoder.container(keyedBy: JSONKey.self))
  }

  init(from container: KeyedDecodingContainer<JSONKey>) throws {
    self.init()
    for key in container.allKeys {
      members.append(Member(key: key.stringValue, value: try container.decode(JSON.self, forKey: key)))
    }
  }

  /// Writes this object to any encoder; of duplicates the last remains.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: JSONKey.self)
    for member in members { try container.encode(member.value, forKey: JSONKey(member.key)) }
  }
}

/// Any name as a coding key.
struct JSONKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }
}
