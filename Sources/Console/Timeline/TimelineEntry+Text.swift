// An entry of a timeline on a terminal and as JSON.

internal import AppStore
internal import KafkaClient
internal import Operations

extension TimelineEntry {
  /// The entry for a terminal: time, kind, title and place, then its facts.
  package func lines(usesColor: Bool) -> [String] {
    let style: TextStyle =
      switch kind {
      case .notification: .bold
      case .event: .green
      case .call, .delayed: .yellow
      case .dead: .red
      }
    let cells = [
      TextCell(Words.moment(at), .dim), TextCell(kind.words), TextCell(title, style), TextCell(place),
      TextCell("\(position)", .dim),
    ]
    let first = cells.map { $0.style.applied(to: $0.text, usesColor: usesColor) }.joined(separator: "  ")
    let width = facts.map(\.name.count).max() ?? 0
    let rest = facts.map { fact in
      "    "
        + TextStyle.dim.applied(to: TerminalText.pad(TerminalText.safe(fact.name), to: width), usesColor: usesColor)
        + "  " + TerminalText.safe(fact.value)
    }
    let payload = payload.map { $0.split(separator: "\n").map { "    " + TerminalText.safe(String($0)) } } ?? []
    return [first] + rest + payload
  }

  /// The entry as one line of JSON. A fact that occurs several times is a list.
  package var jsonLine: String {
    var json: JSONObject = [
      "kind": .string(kind.rawValue), "at": .string(at.rfc3339), "title": .string(title), "place": .string(place),
      "topic": .string(position.topic), "partition": .integer(Int64(position.partition)),
      "offset": .integer(position.offset),
    ]
    var values: [String: [JSON]] = [:]
    for fact in facts { values[fact.name, default: []].append(.string(fact.value)) }
    var object = JSONObject()
    for fact in facts {
      let all = values[fact.name] ?? []
      object[fact.name] = fact.name == "because" ? .array(all) : all.last
    }
    json["facts"] = .object(object)
    if let payload { json["payload"] = .string(payload) }
    return String(decoding: json.serialized(), as: UTF8.self)
  }
}
