// How the value of a key is read from text and written back: one codec for each kind of value, shared by the
// configuration and the topic files.

internal import AppStore
internal import Clocks

/// What a value should have been, for the error that names the key.
struct SettingFault: Error {
  var expected: String

  init(_ expected: String) { self.expected = expected }
}

struct SettingCodec<Value: Sendable>: Sendable {
  /// How the reference names this kind of value.
  var kind: String
  var parse: @Sendable (YAMLValue) throws(SettingFault) -> Value
  /// What `--print-config` shows; secrets come out masked.
  var render: @Sendable (Value) -> YAMLValue.Content
}

extension SettingCodec {
  /// A codec for values that stand on one line as text.
  static func scalar(
    _ kind: String, expected: String, parse: @escaping @Sendable (String) -> Value?,
    render: @escaping @Sendable (Value) -> String
  ) -> Self {
    Self(
      kind: kind,
      parse: { value throws(SettingFault) in
        guard case .scalar(let text) = value.content, let parsed = parse(text) else { throw SettingFault(expected) }
        return parsed
      },
      render: { .scalar(render($0)) })
  }

  /// A list of what `element` reads.
  static func list<Element>(of element: SettingCodec<Element>) -> Self where Value == [Element] {
    Self(
      kind: "list of \(element.kind)",
      parse: { value throws(SettingFault) in
        guard case .list(let values) = value.content else { throw SettingFault("a list of \(element.kind)") }
        var parsed: [Element] = []
        for value in values { parsed.append(try element.parse(value)) }
        return parsed
      },
      render: { .list($0.map { YAMLValue(element.render($0)) }) })
  }
}

extension SettingCodec where Value == String {
  static let text = scalar("text", expected: "a text", parse: { $0 }, render: { $0 })
  static let nonEmptyText = scalar("text", expected: "a text", parse: { $0.isEmpty ? nil : $0 }, render: { $0 })
  static let path = scalar("path", expected: "the path of a file", parse: { $0.isEmpty ? nil : $0 }, render: { $0 })
  static let url = scalar(
    "URL", expected: "a URL that begins with https:// or http://",
    parse: { text in
      let rest = ["https://", "http://"].first { text.hasPrefix($0) }.map { text.dropFirst($0.count) }
      guard let rest, !rest.isEmpty, !rest.hasPrefix("/"), !text.contains(where: \.isWhitespace) else { return nil }
      return text.hasSuffix("/") ? String(text.dropLast()) : text
    }, render: { $0 })
}

extension SettingCodec where Value == Bool {
  static let boolean = scalar(
    "boolean", expected: "true or false", parse: { ["true": true, "false": false][$0] }, render: { "\($0)" })
}

extension SettingCodec where Value: FixedWidthInteger {
  static func integer(_ range: ClosedRange<Value>) -> Self {
    scalar(
      "integer", expected: "a whole number from \(range.lowerBound) to \(range.upperBound)",
      parse: { Value($0).flatMap { range.contains($0) ? $0 : nil } }, render: { "\($0)" })
  }
}

extension SettingCodec where Value == Int {
  static func size(_ range: ClosedRange<Int>) -> Self {
    let bounds = "\(ByteSizeText.text(range.lowerBound)) to \(ByteSizeText.text(range.upperBound))"
    return scalar(
      "size", expected: "a size from \(bounds), such as 256KiB or 2MiB",
      parse: { ByteSizeText.parse($0).flatMap { range.contains($0) ? $0 : nil } }, render: ByteSizeText.text)
  }
}

extension SettingCodec where Value == Double {
  /// A number above `above` and at most `most`.
  static func number(above: Double, most: Double) -> Self {
    scalar(
      "number", expected: "a number above \(above) and at most \(most)",
      parse: { Double($0).flatMap { $0 > above && $0 <= most ? $0 : nil } }, render: { "\($0)" })
  }
}

extension SettingCodec where Value == Duration {
  static func duration(_ range: ClosedRange<Duration>) -> Self {
    let bounds = "\(DurationText.text(range.lowerBound)) to \(DurationText.text(range.upperBound))"
    return scalar(
      "duration", expected: "a duration from \(bounds), such as 500ms, 10s or 1h",
      parse: { DurationText.parse($0).flatMap { range.contains($0) ? $0 : nil } }, render: DurationText.text)
  }
}

extension SettingCodec where Value == Timestamp {
  static let timestamp = scalar(
    "time", expected: "a time such as 2026-01-31T12:00:00Z", parse: { Timestamp(rfc3339: $0) },
    render: { $0.rfc3339 })
}

extension SettingCodec where Value == AppStoreEnvironment {
  static let environment = scalar(
    "Production|Sandbox", expected: "Production or Sandbox",
    parse: { text in [AppStoreEnvironment.production, .sandbox].first { $0.rawValue == text } },
    render: { $0.rawValue })
}

extension SettingCodec where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  static var choice: Self {
    let names = Value.allCases.map(\.rawValue)
    return scalar(
      names.joined(separator: "|"), expected: "one of " + names.joined(separator: ", "),
      parse: { Value(rawValue: $0) }, render: { $0.rawValue })
  }
}

extension SettingCodec where Value == [String: String] {
  /// A section of names and single values; `isSecret` says by name whose value is never shown.
  static func textMap(isSecret: @escaping @Sendable (String) -> Bool = { _ in false }) -> Self {
    Self(
      kind: "map",
      parse: { value throws(SettingFault) in
        guard case .map(let members) = value.content else {
          throw SettingFault("a section of names and values, such as {name: value}")
        }
        var parsed: [String: String] = [:]
        for member in members {
          guard case .scalar(let text) = member.value.content else {
            throw SettingFault("a single value for \(member.key)")
          }
          parsed[member.key] = text
        }
        return parsed
      },
      render: { map in
        .map(
          map.sorted { $0.key < $1.key }.map {
            YAMLValue.Member(
              key: $0.key, line: 0, value: YAMLValue(.scalar(isSecret($0.key) ? SecretFile.mask : $0.value)))
          })
      })
  }
}
