// Apple's constraints on requests of the Advanced Commerce API. Each documented field names its own, and the objects in a
// request are checked like the request.

extension AdvancedCommerceRequest {
  /// Returns the documented constraints that this request violates; empty if it can be sent.
  ///
  /// Limits of length and number are those that Apple's server libraries check.
  public func violations() -> [RequestViolation] {
    oddFields.map { odd in
      RequestViolation(
        .documentedType, odd.path, found: "expected \(odd.expected.rawValue), found \(odd.found.rawValue)",
        in: Self.self)
    } + Self.violations(in: json, at: "")
  }
}

extension AppStoreObject {
  fileprivate static func violations(in object: JSONObject, at prefix: String) -> [RequestViolation] {
    documentedFields.flatMap { field -> [RequestViolation] in
      let path = prefix + field.name
      guard let value = object[field.name] else {
        guard field.rules.contains(.required) else { return [] }
        return [RequestViolation(.required, path, found: "absent", in: Self.self)]
      }
      var violations = field.rules.flatMap { $0.violations(by: value, at: path, in: Self.self) }
      if let constant = field.constant, case .string(let text) = value, text != constant {
        violations.append(RequestViolation(.documentedValue, path, found: "found \(shown(text))", in: Self.self))
      }
      return violations + field.type.violations(by: value, at: path, in: Self.self)
    }
  }
}

extension JSONRepresentable {
  /// Returns the undocumented values of enumerations in a value of this type, and the violations in its objects.
  fileprivate static func violations(
    by value: JSON, at path: String, in owner: any AppStoreObject.Type
  ) -> [RequestViolation] {
    if let list = Self.self as? any JSONList.Type, case .array(let elements) = value {
      return elements.enumerated().flatMap { list.element.violations(by: $1, at: "\(path)[\($0)]", in: owner) }
    }
    if let type = Self.self as? any AppStoreObject.Type, case .object(let object) = value {
      return type.violations(in: object, at: path + ".")
    }
    guard let type = Self.self as? any OpenEnum.Type, let unknown = type.unknownValue(value) else { return [] }
    return [RequestViolation(.documentedValue, path, found: "found \(shown(unknown))", in: owner)]
  }
}

/// An array type, for casts.
private protocol JSONList {
  static var element: any JSONRepresentable.Type { get }
}

extension Array: JSONList where Element: JSONRepresentable {
  fileprivate static var element: any JSONRepresentable.Type { Element.self }
}

extension OpenEnum {
  /// The text of a value that Apple does not document; nil for any other JSON.
  fileprivate static func unknownValue(_ json: JSON) -> String? {
    Self(jsonValue: json).flatMap { $0.isKnown ? nil : $0.description }
  }
}

extension RequestRule {
  /// Returns the violations of this rule by the value of a field, or by the elements of an array.
  fileprivate func violations(
    by value: JSON, at path: String, in owner: any AppStoreObject.Type
  ) -> [RequestViolation] {
    if case .array(let elements) = value, self != .notEmpty {
      return elements.enumerated().flatMap { violations(by: $1, at: "\(path)[\($0)]", in: owner) }
    }
    return problem(with: value).map { [RequestViolation(self, path, found: $0, in: owner)] } ?? []
  }

  /// Describes how a value breaks this rule; nil if it does not, or if it has another type than the rule is about.
  private func problem(with value: JSON) -> String? {
    switch (self, value) {
    case (.uuid, .string(let text)): text.isUUID ? nil : shape(of: text)
    case (.notEmpty, .array(let elements)): elements.isEmpty ? "found an empty list" : nil
    case (.descriptionLength, .string(let text)): Self.excess(of: text, over: 45)
    case (.displayNameLength, .string(let text)): Self.excess(of: text, over: 30)
    case (.skuLength, .string(let text)): Self.excess(of: text, over: 128)
    case (.periodCountRange, .integer(let count)): (1...12).contains(count) ? nil : "found \(count)"
    default: nil
    }
  }

  /// Counts UTF-16 units, as for a `requestIdentifier`.
  private static func excess(of text: String, over limit: Int) -> String? {
    text.utf16.count > limit ? "found \(text.utf16.count) characters" : nil
  }
}

extension RequestViolation {
  fileprivate init(_ rule: RequestRule, _ field: String, found: String, in owner: any AppStoreObject.Type) {
    // The types have Apple's names, with a prefix.
    self.init(
      rule, field, found: found, topic: String("\(owner)".dropFirst("AdvancedCommerce".count)),
      of: "advancedcommerceapi")
  }
}
