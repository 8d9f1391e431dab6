// One codec for each kind of value: reads the value of a key and writes it back. The configuration and the topic files
// share them.

public import AppStore
internal import MillraceTime

/// An invalid value; describes the expected one for the error that names the key.
package struct SettingFault: Error {
  package var expected: String
  /// The value, if the error may repeat it.
  package var found: String?
  /// The problems of the keys inside the value, if the value itself has the right form.
  package var problems: [MillraceError.Problem]

  package init(_ expected: String, found: String? = nil, _ problems: [MillraceError.Problem] = []) {
    self.expected = expected
    self.found = found
    self.problems = problems
  }
}

/// The values that a key accepts, and how they are written.
public struct SettingCodec<Value: Sendable>: Sendable {
  /// The kind of value, as the reference names it.
  package var kind: String
  package var parse: @Sendable (YAMLValue) throws(SettingFault) -> Value
  /// Returns the value as `--print-config` shows it; secrets are masked.
  package var render: @Sendable (Value) -> YAMLValue.Content

  package init(
    kind: String, parse: @escaping @Sendable (YAMLValue) throws(SettingFault) -> Value,
    render: @escaping @Sendable (Value) -> YAMLValue.Content
  ) {
    self.kind = kind
    self.parse = parse
    self.render = render
  }
}

extension SettingCodec {
  /// A codec for single values.
  package static func scalar(
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

  /// A list of values.
  public static func list<Element>(of element: SettingCodec<Element>) -> Self where Value == [Element] {
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
  /// Any text.
  public static let text = scalar("text", expected: "text", parse: { $0 }, render: { $0 })
  /// Text that is not empty.
  public static let nonEmptyText = scalar(
    "text", expected: "non-empty text", parse: { $0.isEmpty ? nil : $0 }, render: { $0 })
  /// The path of a file.
  public static let path = scalar(
    "path", expected: "the path of a file", parse: { $0.isEmpty ? nil : $0 }, render: { $0 })
  /// A URL that begins with `https://` or `http://`. Output masks its password and its query.
  public static let url = scalar(
    "URL", expected: expectedURL,
    parse: { text in isURL(text) ? (text.hasSuffix("/") ? String(text.dropLast()) : text) : nil },
    render: URLMask.text)
  /// A URL that is used exactly as it is written, with its last slash. Otherwise like ``url``.
  static let exactURL = scalar(
    "URL", expected: expectedURL, parse: { isURL($0) ? $0 : nil }, render: URLMask.text)

  private static let expectedURL = "a URL that begins with https:// or http://"

  private static func isURL(_ text: String) -> Bool {
    let rest = ["https://", "http://"].first { text.hasPrefix($0) }.map { text.dropFirst($0.count) }
    guard let rest else { return false }
    return !rest.isEmpty && !rest.hasPrefix("/") && !text.contains(where: \.isWhitespace)
  }
}

extension SettingCodec where Value == Bool {
  /// `true` or `false`.
  public static let boolean = scalar(
    "boolean", expected: "true or false", parse: { ["true": true, "false": false][$0] }, render: { "\($0)" })
}

extension SettingCodec where Value: FixedWidthInteger {
  /// A whole number in a range.
  public static func integer(_ range: ClosedRange<Value>) -> Self {
    scalar(
      "integer", expected: "a whole number from \(range.lowerBound) to \(range.upperBound)",
      parse: { Value($0).flatMap { range.contains($0) ? $0 : nil } }, render: { "\($0)" })
  }
}

extension SettingCodec where Value == Int {
  /// A number of bytes in a range, such as `256KiB` or `2MiB`.
  public static func size(_ range: ClosedRange<Int>) -> Self {
    let bounds = "\(ByteSizeText.text(range.lowerBound)) to \(ByteSizeText.text(range.upperBound))"
    return scalar(
      "size", expected: "a size from \(bounds), such as 256KiB or 2MiB",
      parse: { ByteSizeText.parse($0).flatMap { range.contains($0) ? $0 : nil } }, render: ByteSizeText.text)
  }
}

extension SettingCodec where Value == Double {
  /// A number above `above` and at most `most`.
  public static func number(above: Double, most: Double) -> Self {
    scalar(
      "number", expected: "a number above \(above) and at most \(most)",
      parse: { Double($0).flatMap { $0 > above && $0 <= most ? $0 : nil } }, render: { "\($0)" })
  }
}

extension SettingCodec where Value == Duration {
  /// A duration in a range, such as `500ms`, `10s` or `1h`.
  public static func duration(_ range: ClosedRange<Duration>) -> Self {
    let bounds = "\(DurationText.text(range.lowerBound)) to \(DurationText.text(range.upperBound))"
    return scalar(
      "duration", expected: "a duration from \(bounds), such as 500ms, 10s or 1h",
      parse: { DurationText.parse($0).flatMap { range.contains($0) ? $0 : nil } }, render: DurationText.text)
  }
}

extension SettingCodec where Value == Timestamp {
  /// A time such as `2026-01-31T12:00:00Z`.
  public static let timestamp = scalar(
    "time", expected: "a time such as 2026-01-31T12:00:00Z", parse: { Timestamp(rfc3339: $0) },
    render: { $0.rfc3339 })
}

extension SettingCodec where Value == AppStoreEnvironment {
  /// `Production` or `Sandbox`.
  public static let environment = scalar(
    "Production|Sandbox", expected: "Production or Sandbox",
    parse: { text in [AppStoreEnvironment.production, .sandbox].first { $0.rawValue == text } },
    render: { $0.rawValue })
}

extension SettingCodec where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  /// One of the raw values of an enum.
  public static var choice: Self {
    let names = Value.allCases.map(\.rawValue)
    return scalar(
      names.joined(separator: "|"), expected: "one of " + names.joined(separator: ", "),
      parse: { Value(rawValue: $0) }, render: { $0.rawValue })
  }
}

extension SettingCodec where Value: OpenEnum, Value.RawValue == String {
  /// One of the documented values of an enum of Apple's.
  package static func openEnum(_ kind: String) -> Self {
    scalar(
      kind, expected: "one of " + Value.allKnown.map(\.rawValue).joined(separator: ", "),
      parse: { text in
        let value = Value(rawValue: text)
        return value.isKnown ? value : nil
      }, render: { $0.rawValue })
  }
}

extension SettingCodec where Value == [String: String] {
  /// A section of names and single values. Output masks the values whose name `isSecret` accepts, and the user
  /// information and the query of values that are URLs.
  public static func textMap(isSecret: @escaping @Sendable (String) -> Bool = { _ in false }) -> Self {
    Self(
      kind: "map",
      parse: { value throws(SettingFault) in
        guard case .map(let members) = value.content else {
          throw SettingFault("a section of names and values, such as {name: value}")
        }
        var parsed: [String: String] = [:]
        for member in members {
          guard case .scalar(let text) = member.value.content else {
            throw SettingFault("a single value for each name, such as {name: value}")
          }
          parsed[member.key] = text
        }
        return parsed
      },
      render: { map in
        .map(
          map.sorted { $0.key < $1.key }.map {
            YAMLValue.Member(
              key: $0.key, line: 0,
              value: YAMLValue(.scalar(isSecret($0.key) ? SecretFile.mask : URLMask.text($0.value))))
          })
      })
  }
}
