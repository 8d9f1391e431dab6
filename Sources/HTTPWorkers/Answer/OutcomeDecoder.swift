// Decodes the body of an answer 200. It accepts exactly what docs/http-workers/outcome.schema.json accepts.

package import AppStore
internal import MillraceRecords
internal import MillraceWorker

/// Decodes outcomes.
package enum OutcomeDecoder {
  /// The largest state, payload of a timer and arguments of a call, in bytes of JSON.
  static let maximumValueBytes = 64 << 10

  /// Decodes a body.
  /// - Parameter key: The key of the request. Its length counts for the size of names and states.
  package static func decode(_ body: [UInt8], key: String) throws(OutcomeFault) -> HandlerOutcome {
    let json: JSON
    do {
      json = try JSON(parsing: body)
    } catch {
      throw OutcomeFault(
        "$", body.isEmpty ? "the body is empty" : "invalid JSON: \(error.reason.rawValue) at byte \(error.offset)")
    }
    return try decode(json, key: key)
  }

  /// Decodes a JSON value.
  package static func decode(_ json: JSON, key: String) throws(OutcomeFault) -> HandlerOutcome {
    let root = JSONCursor(json)
    let members = try root.object(allowing: ["events", "state", "timers", "calls", "retry", "deadLetter"])
    if let retry = members["retry"] {
      _ = try root.object(allowing: ["retry"])
      return try self.retry(retry)
    }
    if let deadLetter = members["deadLetter"] {
      _ = try root.object(allowing: ["deadLetter"])
      let members = try deadLetter.object(allowing: ["reason", "detail"])
      let reason = try reason(members)
      return .deadLetter(reason: reason, detail: try detail(members) ?? reason)
    }
    var results = HandlerOutcome.Results()
    for event in try members["events"]?.elements(atMost: 1_000) ?? [] { results.events.append(try self.event(event)) }
    if let state = members["state"] { results.state = try self.state(state, key: key) }
    for timer in try members["timers"]?.elements(atMost: 1_000) ?? [] {
      results.timers.append(try self.timer(timer, key: key))
    }
    for call in try members["calls"]?.elements(atMost: 100) ?? [] {
      results.calls.append(try self.call(call, key: key))
    }
    return .results(results)
  }

  private static func retry(_ cursor: JSONCursor) throws(OutcomeFault) -> HandlerOutcome {
    let members = try cursor.object(allowing: ["after", "reason", "detail"])
    let after = try members["after"]?.integer(0...604_800)
    let reason = try reason(members)
    return .retry(after: after.map { .seconds($0) }, reason: reason, detail: try detail(members) ?? reason)
  }

  private static func reason(_ members: JSONCursor.Members) throws(OutcomeFault) -> String {
    try members.required("reason").text(1...64, "lower-case words with hyphens, such as crm-down") { text in
      let words = text.split(separator: "-", omittingEmptySubsequences: false)
      return words.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { isLower($0) || isDigit($0) } }
        && text.utf8.first.map(isLower) == true
    }
  }

  private static func detail(_ members: JSONCursor.Members) throws(OutcomeFault) -> String? {
    try members["detail"]?.text(0...1_000)
  }

  private static func event(_ cursor: JSONCursor) throws(OutcomeFault) -> EncodedEvent {
    let members = try cursor.object(allowing: ["name", "data", "key"])
    let nameCursor = try members.required("name")
    let name = try nameCursor.text(1...128, "lower case with dots, such as winback.offered") { text in
      text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { word in
        word.utf8.first.map(isLower) == true
          && word.utf8.allSatisfy { isLower($0) || isDigit($0) || $0 == UInt8(ascii: "-") }
      }
    }
    guard name != ErasureEvent.name else { throw nameCursor.fault("\(name) is reserved for erasures") }
    let data = try members.required("data")
    guard case .object(let object) = data.value else {
      throw data.fault("an object is expected, not \(data.value.kind.rawValue)")
    }
    return EncodedEvent(name: name, key: try members["key"]?.text(1...256), data: object.serialized())
  }

  private static func state(_ cursor: JSONCursor, key: String) throws(OutcomeFault) -> HandlerOutcome.StateChange {
    if cursor.value == .null { return .removed }
    let bytes = cursor.value.serialized().count + key.utf8.count
    guard bytes <= maximumValueBytes else {
      throw cursor.fault("\(bytes) bytes with the key; at most \(maximumValueBytes) are allowed")
    }
    return .set(cursor.value)
  }

  private static func timer(_ cursor: JSONCursor, key: String) throws(OutcomeFault) -> HandlerOutcome.Timer {
    let members = try cursor.object(allowing: ["name", "at", "payload"])
    let name = try name(members)
    let at = try members.required("at")
    var time: Timestamp?
    if at.value != .null {
      let text = try at.text(1...64)
      guard let parsed = Timestamp(rfc3339: text), isUpper(text) else {
        throw at.fault("not a time such as 2026-01-31T12:00:00Z")
      }
      time = parsed
    }
    if let payload = members["payload"], payload.value.serialized().count > maximumValueBytes {
      throw payload.fault("larger than \(maximumValueBytes) bytes")
    }
    return .init(name: name, at: time, payload: members["payload"]?.value)
  }

  private static func call(_ cursor: JSONCursor, key: String) throws(OutcomeFault) -> HandlerOutcome.Call {
    let members = try cursor.object(allowing: ["name", "operation", "arguments"])
    let nameCursor = try members.required("name")
    let name = try name(members)
    guard StoredEntry.callName(name, key: key).utf8.count <= EffectIntent.maximumNameBytes else {
      throw nameCursor.fault("too long for this key")
    }
    let operationCursor = try members.required("operation")
    guard let operation = AppleOperation(rawValue: try operationCursor.text(1...64)) else {
      throw operationCursor.fault("not one of " + AppleOperation.allCases.map(\.rawValue).joined(separator: ", "))
    }
    let arguments = try members.required("arguments")
    let checked = try operation.check(arguments)
    guard checked.serialized().count <= maximumValueBytes else {
      throw arguments.fault("larger than \(maximumValueBytes) bytes")
    }
    return .init(name: name, operation: operation, arguments: checked)
  }

  private static func name(_ members: JSONCursor.Members) throws(OutcomeFault) -> String {
    try members.required("name").text(1...128, "letters, digits and . _ : / - after a letter or digit") { text in
      text.utf8.first.map { isLetter($0) || isDigit($0) } == true
        && text.utf8.allSatisfy { isLetter($0) || isDigit($0) || "._:/-".utf8.contains($0) }
    }
  }

  /// The schema allows only capital letters in a time.
  private static func isUpper(_ text: String) -> Bool { !text.utf8.contains { isLower($0) } }
  private static func isLower(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
  private static func isLetter(_ byte: UInt8) -> Bool { isLower(byte | 0x20) && byte >= UInt8(ascii: "A") }
}
